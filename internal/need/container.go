package need

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Images makes podman keep its images and containers in a directory of the test's own, and
// returns a function that makes an image there of programs and directories of this machine.
//
// runc starts containers where crun cannot, as with hybrid control groups.
func Images(t testing.TB) func(name string, paths ...string) {
	t.Helper()
	Root(t, "make images of the programs of this machine")
	_, err := exec.LookPath("podman")
	Installed(t, err)
	dir := t.TempDir()
	configure := func(name, variable, text string) {
		path := filepath.Join(dir, name)
		write(t, path, text)
		t.Setenv(variable, path)
	}
	configure("containers.conf", "CONTAINERS_CONF", "[engine]\nruntime = \"runc\"\n")
	configure("storage.conf", "CONTAINERS_STORAGE_CONF", "[storage]\ndriver = \"overlay\"\ngraphroot = \""+
		filepath.Join(dir, "root")+"\"\nrunroot = \""+filepath.Join(dir, "run")+"\"\n[storage.options.overlay]\n"+
		"skip_mount_home = \"true\"\n")
	t.Cleanup(func() { // it removes ended containers a moment later
		if out, err := exec.Command("podman", "rm", "--all", "--force").CombinedOutput(); err != nil {
			t.Errorf("remove the containers: %v: %s", err, out)
		}
	})
	return func(name string, paths ...string) {
		t.Helper()
		cmd := exec.Command(imageScript(t), append([]string{name}, paths...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make image %s: %v: %s", name, err, out)
		}
	}
}

// imageScript finds the script above the test's directory.
func imageScript(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if path := filepath.Join(dir, "scripts", "image.sh"); exists(path) {
			return path
		}
	}
	t.Fatal("there is no scripts/image.sh")
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// PostgresPaths returns what an image of an installation of PostgreSQL needs.
func PostgresPaths(t testing.TB, program string) []string {
	bin := filepath.Dir(program)
	base := filepath.Dir(bin)
	paths := []string{program, filepath.Join(bin, "initdb")}
	for _, name := range []string{"lib/plpgsql.so", "lib/dict_snowball.so", "lib/postgresql/plpgsql.so",
		"lib/postgresql/dict_snowball.so", "share"} {
		if path := filepath.Join(base, name); exists(path) {
			paths = append(paths, path)
		}
	}
	if version := filepath.Base(base); strings.HasPrefix(base, "/usr/lib/") { // Debian's
		paths = append(paths, "/usr/share/postgresql/"+version, "/usr/share/zoneinfo")
	}
	return paths
}

// MariaDBPaths are what an image of Debian's MariaDB needs.
func MariaDBPaths() []string {
	return []string{"/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db", "/usr/bin/my_print_defaults",
		"/usr/bin/resolveip", "/usr/share/mysql", "/usr/lib/mysql/plugin/ha_rocksdb.so",
		"/usr/lib/x86_64-linux-gnu/libaio.so.1"}
}
