//! What a command gives up before it starts: capabilities, new privileges, files to write to, system calls, and
//! unlimited resources. The mounts of the view say the same about files; either alone would do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
    path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::mounts::Trouble;
use super::spec::Spec;

pub(super) fn restrict(spec: &Spec) -> Result<(), Trouble> {
    limits(spec)?;
    capabilities().map_err(Trouble::at("giving up capabilities"))?;
    set_no_new_privs(true).map_err(Trouble::at("giving up new privileges"))?;
    files(spec)?;
    system_calls()
}

fn limits(spec: &Spec) -> Result<(), Trouble> {
    let limits = &spec.limits;
    for (resource, limit) in [
        (Resource::Core, Some(0)),
        // Threads count here. It holds for the moment until the watch ends the command.
        (
            Resource::Nproc,
            limits.processes.map(|processes| processes.saturating_mul(4)),
        ),
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Fsize, limits.file_size),
    ] {
        let Some(limit) = limit else { continue };
        let known = rustix::process::getrlimit(resource);
        let limit = known.maximum.map_or(limit, |maximum| limit.min(maximum));
        let both = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        setrlimit(resource, both).map_err(Trouble::at("resource limits"))?;
    }
    Ok(())
}

/// An ordinary user has none. Root keeps those over files, which tools run by root count on; they reach no further
/// than the mounts.
fn capabilities() -> rustix::io::Result<()> {
    let kept = match geteuid().is_root() {
        true => {
            CapabilitySet::CHOWN
                | CapabilitySet::DAC_OVERRIDE
                | CapabilitySet::FOWNER
                | CapabilitySet::FSETID
                | CapabilitySet::SETGID
                | CapabilitySet::SETUID
                | CapabilitySet::KILL
                | CapabilitySet::NET_BIND_SERVICE
        }
        false => CapabilitySet::empty(),
    };
    for number in 0..64 {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if kept.contains(one) {
            continue;
        }
        match remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            // Past the last that this kernel knows.
            Err(rustix::io::Errno::INVAL) => break,
            Err(errno) => return Err(errno),
        }
    }
    set_capabilities(
        None,
        CapabilitySets {
            effective: kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        },
    )
}

/// Landlock, as far as the kernel has it.
fn files(spec: &Spec) -> Result<(), Trouble> {
    let failed = |error: landlock::RulesetError| Trouble::at("Landlock")(error);
    let abi = ABI::V6;
    let writes = AccessFs::from_write(abi);
    let mut writable: Vec<PathBuf> = ["/tmp", "/var/tmp", "/dev"].map(PathBuf::from).to_vec();
    writable.push(spec.root.0.clone());
    writable.extend(
        spec.caches
            .iter()
            .chain(&spec.writable)
            .map(|path| path.0.clone()),
    );
    writable.retain(|path| path.exists());
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writes)
        .map_err(failed)?
        .scope(Scope::from_all(abi))
        .map_err(failed)?
        .create()
        .map_err(failed)?
        .add_rules(path_beneath_rules(
            writable.iter().map(AsRef::<Path>::as_ref),
            writes,
        ))
        .map_err(failed)?
        .restrict_self()
        .map_err(failed)?;
    Ok(())
}

/// Calls no build or test needs: new namespaces and mounts, the kernel's own programs and keys, the machine's clock,
/// and interfaces that were the way out of a sandbox more than once.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_open_by_handle_at,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

const NAMESPACES: [libc::c_int; 8] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    0x80, // CLONE_NEWTIME
];

fn system_calls() -> Result<(), Trouble> {
    let failed = |error: seccompiler::Error| Trouble::at("seccomp")(error);
    let backend = |error: seccompiler::BackendError| Trouble::at("seccomp")(error);
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let mut new_namespace = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.cast_unsigned());
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(flag), flag);
        new_namespace.push(SeccompRule::new(vec![condition.map_err(backend)?]).map_err(backend)?);
    }
    // CLONE_NEWTIME is another flag to clone, where it is a part of the exit signal.
    let for_clone = new_namespace.iter().take(NAMESPACES.len() - 1).cloned().collect();
    refused.insert(libc::SYS_unshare, new_namespace);
    refused.insert(libc::SYS_clone, for_clone);
    // Sockets to other machines go through the network namespace; these go around it.
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut other_family = Vec::new();
    for family in families {
        let family = u64::from(family.cast_unsigned());
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family);
        other_family.push(condition.map_err(backend)?);
    }
    refused.insert(
        libc::SYS_socket,
        vec![SeccompRule::new(other_family).map_err(backend)?],
    );
    install(refused, libc::EPERM, failed, backend)?;
    // Its flags lie in memory where a filter cannot look. Libraries then use `clone`.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    install(unknown, libc::ENOSYS, failed, backend)
}

fn install(
    mut rules: BTreeMap<i64, Vec<SeccompRule>>,
    error: libc::c_int,
    failed: impl Fn(seccompiler::Error) -> Trouble,
    backend: impl Fn(seccompiler::BackendError) -> Trouble,
) -> Result<(), Trouble> {
    // The same calls by the numbers of the x32 interface, which some kernels still answer.
    #[cfg(target_arch = "x86_64")]
    for (number, rule) in rules.clone() {
        rules.insert(number | 0x4000_0000, rule);
    }
    let architecture = std::env::consts::ARCH.try_into().map_err(&backend)?;
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(error.cast_unsigned()),
        architecture,
    )
    .map_err(&backend)?;
    let program: BpfProgram = filter.try_into().map_err(&backend)?;
    seccompiler::apply_filter(&program).map_err(failed)
}
