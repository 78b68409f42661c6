//! The table of what is masked and protected where settings say nothing.

use super::PathClass::{self, Masked, Open, Protected};

/// The defaults. A glob holds at any depth and for everything below what it matches; of the rows
/// that match one path the last decides, so `Open` rows take back what is above them.
///
/// Protected is what runs although nobody asked for it: when a shell starts, an editor opens the
/// directory, or git does anything. Masked is what holds secrets by its usual name.
pub(super) const DEFAULTS: &[(PathClass, &str)] = &[
    // What git runs, and the files that tell it where to find what it runs.
    (Protected, ".git/hooks"),
    (Protected, ".git/config"),
    (Protected, ".git/config.worktree"),
    (Protected, ".git/commondir"),
    (Protected, ".git/info/attributes"),
    (Protected, ".git/modules/**/hooks"),
    (Protected, ".git/modules/**/config"),
    (Protected, ".git/worktrees/**/commondir"),
    (Protected, ".git/worktrees/**/gitdir"),
    (Protected, ".git/worktrees/**/config.worktree"),
    (Protected, ".gitconfig"),
    (Protected, ".config/git"),
    // hotcell's own.
    (Protected, ".hotcell"),
    (Protected, "hotcell.toml"),
    // What a shell runs when it starts or ends.
    (Protected, ".profile"),
    (Protected, ".bashrc"),
    (Protected, ".bash_{profile,login,logout,aliases}"),
    (Protected, ".zsh{rc,env}"),
    (Protected, ".z{profile,login,logout}"),
    (Protected, ".{ksh,mksh,csh,tcsh}rc"),
    (Protected, ".login"),
    (Protected, ".config/fish"),
    // What an editor or an agent runs when it opens the directory.
    (Protected, ".vscode/{tasks,settings,launch}.json"),
    (Protected, ".idea/workspace.xml"),
    (Protected, ".idea/runconfigurations"),
    (Protected, ".devcontainer"),
    (Protected, ".exrc"),
    (Protected, ".vimrc"),
    (Protected, ".nvim{rc,.lua}"),
    (Protected, ".mcp.json"),
    // Environments. `.envrc` is among them; examples are made to be read.
    (Masked, ".env*"),
    (Open, ".env.{example,sample,template,dist,defaults}"),
    (Open, ".env*.{example,sample,template,dist}"),
    // Private keys by the names that ssh-keygen gives, and not every name that begins with `id_`.
    (Masked, "id_{rsa,dsa,ecdsa,ed25519,xmss}*"),
    (Open, "id_{rsa,dsa,ecdsa,ed25519,xmss}*.pub"),
    (Masked, "*.{pem,key,ppk,p12,pfx,jks,keystore,kdbx}"),
    (Masked, ".ssh"),
    (Masked, ".gnupg"),
    // Clouds and clusters.
    (Masked, ".aws"),
    (Masked, ".azure"),
    (Masked, ".config/gcloud"),
    (Masked, ".kube"),
    (Masked, ".boto"),
    (Masked, ".s3cfg"),
    (Masked, ".vault-token"),
    (Masked, ".docker/config.json"),
    (Masked, ".dockercfg"),
    // Logins of single programs.
    (Masked, "{.,_}netrc"),
    (Masked, ".npmrc"),
    (Masked, ".pypirc"),
    (Masked, ".pgpass"),
    (Masked, ".my.cnf"),
    (Masked, ".mylogin.cnf"),
    (Masked, ".git-credentials"),
    (Masked, ".config/git/credentials"),
    (Masked, ".config/gh/hosts.yml"),
    (Masked, ".cargo/credentials{,.toml}"),
    (Masked, ".gem/credentials"),
    (Masked, ".m2/settings{,-security}.xml"),
    (Masked, ".htpasswd"),
    (Masked, ".password-store"),
];
