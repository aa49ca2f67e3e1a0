#!/bin/sh
# Fetches MySQL 5.5.9 (2011) from Maven Central, where an old connector brings
# it along, and lays it out as its own archive would: DIR/bin/mysqld, DIR/share
# and ready-made system tables in DIR/data. For plans that compare an old
# release with a new one: binary: DIR/bin/mysqld
set -eu
[ $# = 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
dir=$1
[ ! -x "$dir/bin/mysqld" ] || exit 0
for made in bin data share; do
	[ -z "$(find "$dir/$made" ! -type d 2>/dev/null | head -n 1)" ] ||
		{ echo "$0: $dir/$made holds files, which are left alone: name a new directory" >&2; exit 1; }
done
artifact=mysql:mysql-connector-mxj-db-files:5.0.12
sha256=02525626a05bbbf8018662e77b17335c90f290c885a6b87a556ff1671fe76f97
mkdir -p "$dir"
temp=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$temp"' EXIT
echo "fetching MySQL 5.5.9 (140 MB)" >&2
mvn -B -q -Dstyle.color=never dependency:copy -Dartifact=$artifact -DoutputDirectory="$temp" >&2
cd "$temp"
mv mysql-connector-mxj-db-files-5.0.12.jar files.jar
echo "$sha256  files.jar" | sha256sum -c - >&2
unzip -qo files.jar '5-5-9/Linux-x86_64/mysqld' 5-5-9/data_dir.jar 5-5-9/share_dir.jar
mkdir data
(cd data && unzip -qo ../5-5-9/data_dir.jar && rm -rf META-INF)
unzip -qo 5-5-9/share_dir.jar
cd - >/dev/null
mkdir -p "$dir/bin"
cp -R "$temp/share" "$temp/data" "$dir"
chmod -R a+rX "$dir/share" "$dir/data"
chmod 755 "$temp/5-5-9/Linux-x86_64/mysqld"
mv "$temp/5-5-9/Linux-x86_64/mysqld" "$dir/bin/mysqld" # last: it says that all is there
chmod a+rx "$dir" "$dir/bin"
