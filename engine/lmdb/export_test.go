package lmdb

// BundledVersion is what binaries without the library call it.
const BundledVersion = bundled
