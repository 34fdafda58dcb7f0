"""scripts/setup: which packages it installs, and that it leaves no service enabled.

It runs in a separate mount namespace, where /usr/sbin, /etc/systemd/system and /etc/os-release are the test's and
apt-get, dpkg-query and systemctl are short scripts.
"""

import os
import shutil
import unittest

from harness import ROOT, SystemTest, run_program, write_program

PROGRAMS = {
    "dpkg-query": 'exit 1\n',
    # Like Debian's package of a server: it asks the policy whether it may start, and enables its unit.
    "apt-get": '''echo "$@" >> "$FAKE/apt-get.log"
case $* in
update*) echo "$APT_SAYS" ;;
*--simulate*) echo "Inst one"; echo "Inst two" ;;
install*)
  /usr/sbin/policy-rc.d one start
  [ $? = 101 ] || echo one >> "$FAKE/started"
  ln -s /nowhere /etc/systemd/system/multi-user.target.wants/one.service
  echo "Unpacking one (1) ..."
  echo "Unpacking two (2) ..."
  echo "Setting up one (1) ..."
  echo "Setting up two (2) ..."
  echo "$APT_SAYS"
  exit "${APT_STATUS:-0}" ;;
esac
''',
    "systemctl": 'for unit; do rm -f /etc/systemd/system/*.wants/"$unit"; done\n',
}
INSIDE = '''mount --bind "$FAKE/sbin" /usr/sbin && mount --bind "$FAKE/units" /etc/systemd/system &&
mount --bind "$FAKE/os-release" /etc/os-release && exec "$@"'''
NAMESPACES = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
HAS_NAMESPACES = run_program(*NAMESPACES, "mount", "--bind", "/usr/sbin", "/usr/sbin").returncode == 0


@unittest.skipUnless(HAS_NAMESPACES, "there are no mount namespaces here")
@unittest.skipUnless(os.path.isdir("/etc/systemd/system"), "this system has no folder for units")
class Setup(SystemTest):
    def setUp(self):
        super().setUp()
        for folder in ("sbin", "units/multi-user.target.wants", "scripts"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "units/multi-user.target.wants/earlier.service").symlink_to("/nowhere")
        for name, text in PROGRAMS.items():
            write_program(self.folder / "bin" / name, "#!/bin/sh\n" + text)
        shutil.copy(ROOT / "scripts/setup", self.folder / "scripts/setup")
        self.pretend_to_be("debian", "12")

    def pretend_to_be(self, name, version):
        (self.folder / "os-release").write_text(f"ID={name}\nVERSION_ID=\"{version}\"\n")

    def run_setup(self, *arguments, **environment):
        return run_program(
            *NAMESPACES, "sh", "-c", INSIDE, "sh", self.folder / "scripts/setup", *arguments,
            env={**os.environ, "FAKE": str(self.folder), "PATH": f"{self.folder}/bin:/usr/bin:/bin", **environment})

    def check_nothing_is_left(self):
        self.assertFalse((self.folder / "started").exists())
        self.assertEqual(os.listdir(self.folder / "units/multi-user.target.wants"), ["earlier.service"])

    def test_no_service_is_started_or_enabled(self):
        done = self.run_setup("test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_nothing_is_left()
        self.assertEqual(os.listdir(self.folder / "sbin"), [])

    def test_a_policy_that_was_there_is_put_back(self):
        (self.folder / "sbin/policy-rc.d").write_text("earlier")
        self.assertEqual(self.run_setup("test").returncode, 0)
        self.check_nothing_is_left()
        self.assertEqual((self.folder / "sbin/policy-rc.d").read_text(), "earlier")
        self.assertEqual(os.listdir(self.folder / "sbin"), ["policy-rc.d"])

    def test_the_same_holds_where_the_installation_fails(self):
        done = self.run_setup("test", APT_STATUS="100")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Setting up two", done.stderr)
        self.check_nothing_is_left()
        self.assertEqual(os.listdir(self.folder / "sbin"), [])

    def test_it_says_how_many_packages_there_are(self):
        done = self.run_setup("test")
        self.assertIn("with what they depend on", done.stdout)
        self.assertIn("fetching the lists", done.stdout)
        self.assertIn("[2/2] unpacked two", done.stdout)
        self.assertIn("[2/2] installed two", done.stdout)

    def test_it_knows_the_names_of_each_system(self):
        for name, version, library in (("debian", "12", "59"), ("debian", "13", "61"), ("ubuntu", "24.04", "60")):
            self.pretend_to_be(name, version)
            done = self.run_setup("peers")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("libavdevice" + library, done.stdout)

    def test_elsewhere_it_installs_nothing_and_says_what_to_install(self):
        for name, version in (("fedora", "42"), ("debian", "11"), ("ubuntu", "24.10"), ("opensuse-tumbleweed", "")):
            self.pretend_to_be(name, version)
            done = self.run_setup("build")
            self.assertEqual(done.returncode, 3, done.stderr)
            for words in (name, "Nothing was installed", "EPEL", "openSUSE (not tried)", "cmake --preset"):
                self.assertIn(words, done.stderr)
            self.assertFalse((self.folder / "apt-get.log").exists())

    def test_what_stopped_apt_comes_with_the_way_out(self):
        for says, way in (("E: dpkg was interrupted, you must run 'dpkg --configure -a'", "dpkg --configure -a`"),
                          ("E: Could not get lock /var/lib/dpkg/lock-frontend.", "another program is installing"),
                          ("E: You don't have enough free space in /var/cache/apt/archives/.", "the disk is full"),
                          ("E: Failed to fetch http://deb.debian.org/x  Could not connect", "look at the network")):
            done = self.run_setup("test", APT_STATUS="100", APT_SAYS=says)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)
            self.assertIn(way, done.stderr.splitlines()[-1])
            self.check_nothing_is_left()

    def test_only_the_full_group_brings_servers(self):
        self.run_setup("build", "test", "lint")
        asked = (self.folder / "apt-get.log").read_text()
        for server in ("slurm", "munge", "nginx", "nfs-ganesha", "chromium"):
            self.assertNotIn(server, asked)
