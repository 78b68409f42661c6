//! seccomp: the system calls that a process is refused. One long table.
//!
//! Owns the list. Whatever reaches beyond the sandbox, or into a part of the kernel that programs
//! do not need and that is known for faults, is refused. It must never be the only thing that
//! stands in the way: files are Landlock's, and the network has a namespace.

use super::{Failure, at};
use crate::process::layers::Layer;
use libc::c_long;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use std::collections::BTreeMap;
use std::io;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: TargetArch = TargetArch::riscv64;

/// Refused: "operation not permitted".
const REFUSED: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Namespaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Files by a handle instead of a path.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    // Keys of the kernel.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Programs in the kernel, and what watches it.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_syslog,
    libc::SYS_acct,
    // The kernel itself.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
];

/// Refused where this kind of processor has them.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS__sysctl,
    libc::SYS_lookup_dcookie,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// Answered as if the kernel had no such call, so that programs take the older one: `clone3` and
/// `openat2` hide their flags in memory, where a filter cannot look; the others make calls of their
/// own.
const ABSENT: &[c_long] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Numbers that were not given to a call yet when this table was written (Linux 6.18).
const UNKNOWN: std::ops::Range<c_long> = 470..600;

/// Every flag of `clone` that makes a namespace.
const NAMESPACES: [u64; 7] = [
    libc::CLONE_NEWUSER as u64,
    libc::CLONE_NEWNS as u64,
    libc::CLONE_NEWPID as u64,
    libc::CLONE_NEWNET as u64,
    libc::CLONE_NEWIPC as u64,
    libc::CLONE_NEWUTS as u64,
    libc::CLONE_NEWCGROUP as u64,
];

/// Bits of a mode that lend the rights of a file's owner or group to whoever runs it: outside of the
/// sandbox, long after it.
const LENDING: [u64; 2] = [libc::S_ISUID as u64, libc::S_ISGID as u64];

/// The calls that set a mode, and which of their arguments it is.
const MODES: &[(c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// The calls that set a mode where their flags ask for a new file: the argument with the flags,
/// the one after it is the mode.
const OPENS: &[(c_long, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// Flags that make a file, with a name and without.
const MAKING: [u64; 2] = [libc::O_CREAT as u64, libc::O_TMPFILE as u64];

/// Requests that type into a terminal.
#[expect(
    clippy::unnecessary_cast,
    reason = "the constants have another type where the C library is musl"
)]
const TERMINAL_INPUT: [u64; 2] = [libc::TIOCSTI as u64, libc::TIOCLINUX as u64];

/// What the network needs, where it is allowed. Sockets with a path stay refused: they reach
/// services of the machine, which Landlock cannot hold back.
const NETWORK: [u64; 3] = [
    libc::AF_INET as u64,
    libc::AF_INET6 as u64,
    libc::AF_NETLINK as u64,
];

/// On x86-64 a second table of calls, of which most have the number of the first with this bit.
#[cfg(target_arch = "x86_64")]
const X32_BIT: c_long = 0x4000_0000;

/// The calls of that table which have numbers of their own, and what they are otherwise.
#[cfg(target_arch = "x86_64")]
const X32_OWN: &[(c_long, c_long)] = &[
    (libc::SYS_ioctl, 514),
    (libc::SYS_ptrace, 521),
    (libc::SYS_kexec_load, 528),
    (libc::SYS_process_vm_readv, 539),
    (libc::SYS_process_vm_writev, 540),
];

/// The filters, compiled.
#[derive(Clone)]
pub(super) struct Programs {
    absent: BpfProgram,
    refused: BpfProgram,
}

impl Programs {
    /// Installs them for this process and what it starts.
    pub(super) fn apply(&self) -> io::Result<()> {
        for program in [&self.refused, &self.absent] {
            seccompiler::apply_filter(program)
                .map_err(|error| io::Error::other(error.to_string()))?;
        }
        Ok(())
    }
}

/// Compiles the table.
pub(super) fn compile(network: bool) -> Result<Programs, Failure> {
    compiled(network).map_err(at(Layer::SystemCalls, "compile the filter"))
}

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

fn compiled(network: bool) -> Result<Programs, BackendError> {
    let absent = ABSENT.iter().copied().chain(UNKNOWN);
    let absent: Rules = absent.map(|call| (call, Vec::new())).collect();
    Ok(Programs {
        absent: filter(absent, libc::ENOSYS)?,
        refused: filter(refused(network)?, libc::EPERM)?,
    })
}

/// No rule for a call means every use of it.
fn refused(network: bool) -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED
        .iter()
        .chain(REFUSED_HERE)
        .map(|call| (*call, Vec::new()))
        .collect();
    let any_of = |argument: u8, flags: &[u64]| -> Result<Vec<SeccompRule>, BackendError> {
        let flags = flags.iter();
        flags
            .map(|flag| when(&[(argument, MaskedEq(*flag), *flag)]))
            .collect()
    };
    rules.insert(libc::SYS_clone, any_of(0, &NAMESPACES)?);
    rules.insert(
        libc::SYS_ioctl,
        TERMINAL_INPUT
            .iter()
            .map(|request| when(&[(1, Eq, *request)]))
            .collect::<Result<_, _>>()?,
    );
    let sockets = if network {
        vec![when(&NETWORK.map(|family| (0, Ne, family)))?]
    } else {
        Vec::new()
    };
    rules.insert(libc::SYS_socket, sockets);
    for (call, mode) in MODES {
        rules.insert(*call, any_of(*mode, &LENDING)?);
    }
    for (call, flags) in OPENS {
        let mut opens = Vec::new();
        for making in MAKING {
            for bit in LENDING {
                opens.push(when(&[
                    (*flags, MaskedEq(making), making),
                    (flags + 1, MaskedEq(bit), bit),
                ])?);
            }
        }
        rules.insert(*call, opens);
    }
    // Pairs that are connected to each other reach nobody else.
    rules.insert(
        libc::SYS_socketpair,
        vec![when(&[(0, Ne, libc::AF_UNIX as u64)])?],
    );
    Ok(rules)
}

fn when(conditions: &[(u8, seccompiler::SeccompCmpOp, u64)]) -> Result<SeccompRule, BackendError> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        SeccompCondition::new(*argument, Dword, operator.clone(), *value)
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

fn filter(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    let errno = u32::try_from(errno).unwrap_or(1);
    SeccompFilter::new(
        with_second_table(rules),
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        ARCHITECTURE,
    )?
    .try_into()
}

#[cfg(target_arch = "x86_64")]
fn with_second_table(mut rules: Rules) -> Rules {
    let second: Vec<_> = rules
        .iter()
        .flat_map(|(call, rules)| {
            let own = X32_OWN.iter().filter(move |(first, _)| first == call);
            std::iter::once(call | X32_BIT)
                .chain(own.map(|(_, own)| own | X32_BIT))
                .map(|number| (number, rules.clone()))
        })
        .collect();
    rules.extend(second);
    rules
}

#[cfg(not(target_arch = "x86_64"))]
fn with_second_table(rules: Rules) -> Rules {
    rules
}
