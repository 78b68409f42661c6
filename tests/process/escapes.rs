//! Programs that reach for what is outside. Each must fail, and the world must be as before.

use crate::support::{SECRET, Stage, Told, listener, python};
use hotcell::policy::Mode;
use std::os::unix::fs::symlink;

/// What is tried, as a line for `sh`. `$OUT` is the directory of the canary.
const SHELL: &[&str] = &[
    "cat $OUT/canary.txt",
    "cat /workspace/../outside/canary.txt",
    "cat ../outside/canary.txt",
    "cat link/canary.txt",
    "cat file-link",
    "cd link && cat canary.txt",
    "ls $OUT",
    "ls -la $OUT/deep",
    "cat /proc/1/root$OUT/canary.txt",
    "cat /proc/self/root$OUT/canary.txt",
    "cat /proc/1/cwd/canary.txt",
    "for f in /proc/1/fd/*; do cat $f; done",
    "cat /proc/1/environ",
    "cat /etc/shadow",
    "ls /etc/ssl/private",
    "ls /root /home",
    "ls /var /run /boot",
    "cat /proc/kcore",
    "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern",
    "cat /dev/kmsg",
    "cat /dev/tty",
    "cat /dev/vda /dev/sda /dev/mem",
    "echo x > $OUT/canary.txt",
    "echo x > $OUT/new.txt",
    "echo x > link/new.txt",
    "echo x >> file-link",
    "rm -r $OUT/deep",
    "mv $OUT/canary.txt here",
    "mkdir $OUT/d",
    "chmod 777 $OUT/canary.txt",
    "chmod 777 /dev/null",
    "chmod 700 /usr/bin",
    "touch -d 2001-01-01 /usr",
    "touch -d 2001-01-01 $OUT/canary.txt",
    "ln $OUT/canary.txt hard",
    "ln -s $OUT/canary.txt soft && cat soft",
    "cp -r $OUT copy",
    "mknod device b 8 0 && cat device",
    "mknod device c 1 1 && cat device",
    "mount -t tmpfs none /workspace",
    "mount --bind / /tmp/x",
    "umount /workspace",
    "unshare -U true",
    "unshare -Urm true",
    "unshare -n true",
    "nsenter -t 1 -m true",
    "chroot /workspace /bin/true",
    "echo x > /usr/bin/evil",
    "echo x > /etc/evil",
    "echo x > /evil",
    "mkdir /evil",
    "hostname evil",
    "kill -9 1",
    "sysctl -w kernel.pid_max=400000",
    "dmesg",
];

/// The same for `python3`; a refusal is an error, and an error is exit status 1.
const PYTHON: &[&str] = &[
    // Network, by every family.
    "import socket; socket.socket(socket.AF_INET).connect(('127.0.0.1', PORT))",
    "import socket; socket.socket(socket.AF_INET6).connect(('::1', PORT))",
    "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))",
    "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "import socket; socket.socket(socket.AF_UNIX).connect(OUT + '/socket')",
    "import socket; socket.socket(socket.AF_UNIX).bind('\\0abstract')",
    "import socket; socket.socket(38, socket.SOCK_SEQPACKET)",
    "import socket; socket.socketpair(socket.AF_INET)",
    // System calls by number, as x86-64 and as its second table have them.
    "call(ptrace, 16, 1, 0, 0)",
    "call(ptrace, 0, 0, 0, 0)",
    "call(process_vm_readv, 1, 0, 0, 0, 0, 0)",
    "call(unshare, 0x10000000)",
    "call(setns, 0, 0)",
    "call(clone, 0x10000000 | 17, 0, 0, 0, 0)",
    "call(clone, 0x00020000 | 17, 0, 0, 0, 0)",
    "call(clone3, 0, 0)",
    "call(mount, 0, 0, 0, 0, 0)",
    "call(umount2, b'/tmp', 2)",
    "call(pivot_root, b'/tmp', b'/tmp')",
    "call(move_mount, -1, 0, -1, 0, 0)",
    "call(open_tree, -100, b'/', 1)",
    "call(fsopen, b'tmpfs', 0)",
    "call(bpf, 0, 0, 0)",
    "call(keyctl, 0, -3, 0)",
    "call(add_key, b'user', b'x', b'x', 1, -3)",
    "call(request_key, b'user', b'x', 0, -3)",
    "call(io_uring_setup, 8, 0)",
    "call(userfaultfd, 0)",
    "call(perf_event_open, 0, 0, -1, -1, 0)",
    "call(kexec_load, 0, 0, 0, 0)",
    "call(init_module, 0, 0, 0)",
    "call(finit_module, 0, 0, 0)",
    "call(delete_module, b'x', 0)",
    "call(open_by_handle_at, -100, 0, 0)",
    "call(socket, 2, 1, 0)",
    "call(reboot, 0, 0, 0, 0)",
    // A terminal is typed into.
    "import fcntl; fcntl.ioctl(0, 0x5412, b'x')",
    // The supervisor is looked into, or written to.
    "open('/proc/1/mem', 'r+b')",
    "open('/proc/1/maps').read()",
    "import os; os.readlink('/proc/1/exe')",
    // Privileges.
    "import os; os.setuid(12345)",
    "import os; os.setgroups([0])",
    "import os; os.chown('/workspace/hello.txt', 12345, 12345)",
    "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (100000, 100000))",
];

/// The calls by their numbers, and a way to make them that tells a refusal from a mistake.
#[cfg(target_arch = "x86_64")]
const CALLS: &str = "
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True)
numbers = dict(ptrace=101, process_vm_readv=310, unshare=272, setns=308, clone=56, clone3=435,
  mount=165, umount2=166, pivot_root=155, move_mount=429, open_tree=428, fsopen=430, bpf=321,
  keyctl=250, add_key=248, request_key=249, io_uring_setup=425, userfaultfd=323,
  perf_event_open=298, kexec_load=246, init_module=175, finit_module=313, delete_module=176,
  open_by_handle_at=304, socket=41, reboot=169)
globals().update(numbers)
own = {101: 521, 310: 539, 246: 528}
def call(number, *arguments):
  for one in (number, number | 0x40000000, own.get(number, number) | 0x40000000):
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(one), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if done == 0 and one in (56, 56 | 0x40000000): os._exit(0)
    if done != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
      print('got through:', one, done, errno.errorcode.get(ctypes.get_errno()))
      os._exit(0)
  raise PermissionError
";
#[cfg(not(target_arch = "x86_64"))]
const CALLS: &str = "
def call(number, *arguments):
  raise PermissionError
ptrace = process_vm_readv = unshare = setns = clone = clone3 = mount = umount2 = pivot_root = 0
move_mount = open_tree = fsopen = bpf = keyctl = add_key = request_key = io_uring_setup = 0
userfaultfd = perf_event_open = kexec_load = init_module = finit_module = delete_module = 0
open_by_handle_at = socket = reboot = 0
";

fn stage() -> Option<Stage> {
    let stage = Stage::new()?;
    symlink(stage.path("outside"), stage.path("ws/link")).expect("link");
    symlink(stage.path("outside/canary.txt"), stage.path("ws/file-link")).expect("link");
    Some(stage)
}

fn check(tried: &str, told: &Told) {
    assert!(!told.succeeded(), "{tried} succeeded: {told:?}");
    for text in [&told.stdout, &told.stderr] {
        assert!(!text.contains(SECRET), "{tried} read the canary: {told:?}");
        assert!(!text.contains("root:$"), "{tried} read passwords: {told:?}");
    }
}

#[tokio::test]
async fn a_table_of_escapes_from_a_shell() {
    let Some(mut stage) = stage() else {
        return;
    };
    let before = stage.outside();
    let out = stage.path("outside");
    for mode in [Mode::Act, Mode::Plan] {
        stage.mode = mode;
        for tried in SHELL {
            let told = stage.sh(&format!("OUT={}; {tried}", out.display())).await;
            // A loop ends with the status of its last command, and listing several directories
            // names each: what counts then is that nothing came out.
            if !tried.starts_with("for") {
                check(tried, &told);
            }
            assert!(!told.stdout.contains(SECRET), "{tried}: {told:?}");
        }
    }
    assert_eq!(stage.outside(), before);
}

#[tokio::test]
async fn a_table_of_escapes_by_system_calls() {
    let Some(stage) = stage() else {
        return;
    };
    let before = stage.outside();
    let _socket = std::os::unix::net::UnixListener::bind(stage.path("socket")).expect("a socket");
    let (listener, port) = listener().await;
    let out = stage.path("");
    for tried in PYTHON {
        let prelude = format!(
            "{CALLS}\nPORT = {port}\nOUT = {:?}\n",
            out.display().to_string()
        );
        let told = stage.run(python(&format!("{prelude}{tried}"))).await;
        check(tried, &told);
    }
    assert_eq!(stage.outside(), before);
    // Nobody connected.
    let waiting = tokio::time::timeout(std::time::Duration::ZERO, listener.accept());
    assert!(waiting.await.is_err());
}

#[tokio::test]
async fn the_network_is_there_where_the_user_gives_it_and_services_are_not() {
    let Some(mut stage) = stage() else {
        return;
    };
    stage.network = true;
    let path = stage.path("ws/socket");
    let _service = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    let (_listener, port) = listener().await;
    let told = stage
        .python(&format!(
            "
import socket
socket.create_connection(('127.0.0.1', {port})).close()
print('connected')
try: socket.socket(socket.AF_UNIX).connect('/workspace/socket')
except PermissionError: print('refused')
try: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
except PermissionError: print('refused')
"
        ))
        .await;
    assert_eq!(told.stdout, "connected\nrefused\nrefused\n", "{told:?}");
}

#[tokio::test]
async fn pairs_of_sockets_and_threads_and_children_still_work() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let told = stage
        .python(
            "
import socket, subprocess, threading, multiprocessing
a, b = socket.socketpair()
a.send(b'x'); assert b.recv(1) == b'x'
t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()
print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout, end='')
print(multiprocessing.Lock().acquire())
open('/dev/null', 'w').write('x')
",
        )
        .await;
    assert_eq!(told.stdout, "thread\nchild\nTrue\n", "{told:?}");
}

#[tokio::test]
async fn a_program_sees_its_own_processes_only() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let told = stage.sh("ls /proc | grep '^[0-9]' | wc -l").await;
    let count: u32 = told.stdout.trim().parse().expect("a number");
    // The supervisor, the shell, and the three of the pipeline.
    assert!(count <= 5, "{told:?}");
}

#[tokio::test]
async fn no_program_leaves_a_file_that_lends_rights() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let told = stage
        .python(
            "
import os, shutil
def tried(what):
    try: what()
    except PermissionError: print('refused')
    else: print('done')
shutil.copy('/bin/true', 'plain')
for bits in (0o4755, 0o2755):
    tried(lambda: os.chmod('plain', bits))
    tried(lambda: os.chmod(os.open('plain', os.O_RDONLY), bits))
    tried(lambda: os.close(os.open(f'new{bits}', os.O_CREAT | os.O_WRONLY, bits)))
    tried(lambda: os.mknod(f'node{bits}', bits))
tried(lambda: os.chmod('plain', 0o755))
tried(lambda: os.close(os.open('fine', os.O_CREAT | os.O_WRONLY, 0o600)))
",
        )
        .await;
    let expected = "refused\n".repeat(8) + "done\ndone\n";
    assert_eq!(told.stdout, expected, "{told:?}");
    stage
        .sh("chmod u+s plain; chmod 4755 plain; install -m 4755 plain other; cp -p /usr/bin/su su")
        .await;
    for entry in std::fs::read_dir(stage.workspace()).expect("the workspace") {
        use std::os::unix::fs::PermissionsExt as _;
        let entry = entry.expect("an entry");
        let mode = entry.metadata().expect("its metadata").permissions().mode();
        assert_eq!(mode & 0o6000, 0, "{:?}", entry.file_name());
    }
}
