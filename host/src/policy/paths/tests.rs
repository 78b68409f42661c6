//! The table of paths, and what globs may and may not do.

use super::*;

fn globs(of: &[&str]) -> Vec<String> {
    of.iter().map(|glob| (*glob).to_owned()).collect()
}

#[test]
fn the_defaults_class_these_paths() {
    let rules = PathRules::default();
    for (class, paths) in [
        (
            Masked,
            &[
                ".env",
                ".env.production",
                ".envrc",
                "service/.ENV.local",
                "certs/server.pem",
                "server.KEY",
                "id_rsa",
                "keys/id_ed25519.bak",
                ".ssh",
                ".ssh/config",
                ".ssh/id_rsa.pub",
                "home/.aws/credentials",
                ".netrc",
                "_netrc",
                ".npmrc",
                "a/b/.pgpass",
                ".config/git/credentials",
                ".cargo/credentials",
                ".cargo/credentials.toml",
                ".ſſh/config",
                ".e\u{200c}nv",
                ".env ",
                ".env.",
                ".env::$DATA",
                "../x",
                "/etc/passwd",
            ][..],
        ),
        (
            Protected,
            &[
                ".git/hooks",
                ".git/hooks/pre-commit",
                ".GIT/Hooks/pre-commit",
                "vendor/sub/.git/hooks/pre-commit",
                ".git/config",
                ".git/modules/a/b/hooks/post-checkout",
                ".git/modules/a/config",
                ".git/modules/config",
                ".hotcell",
                ".hotcell/anything/below",
                "hotcell.toml",
                ".bashrc",
                "home/.zshenv",
                ".zprofile",
                ".config/fish/config.fish",
                ".vscode/tasks.json",
                ".idea/runConfigurations/x.xml",
                ".nvim.lua",
                ".vimrc",
                ".\u{200d}git/hooks",
            ][..],
        ),
        (
            Open,
            &[
                "",
                ".",
                "src/main.rs",
                ".env.example",
                "deploy/.env.production.sample",
                "environment",
                "id_rsa.pub",
                "id_map.rs",
                ".git",
                ".git/HEAD",
                ".git/refs/heads/main",
                ".git/config.lock",
                ".gitignore",
                ".gitmodules",
                ".github/workflows/hooks.yml",
                "git/hooks",
                ".cargo/config.toml",
                ".vscode/extensions.json",
                "key",
                "pem/readme",
            ][..],
        ),
    ] {
        for path in paths {
            assert_eq!(rules.class(Path::new(path)), class, "{path:?}");
        }
    }
}

#[test]
fn one_name_of_a_directory_is_classed_as_the_whole_path() {
    let rules = PathRules::default();
    for directory in ["", "a/b", ".git", ".ssh", ".git/modules/x"] {
        let mut within = rules.within(Path::new(directory));
        for name in ["hooks", "config", ".env", "Cargo.toml", ".GIT", "é.pem"] {
            assert_eq!(
                within.class(OsStr::new(name)),
                rules.class(&Path::new(directory).join(name)),
                "{directory}/{name}"
            );
        }
    }
}

#[test]
fn what_lies_above_a_rule_is_known() {
    let rules = PathRules::new(&globs(&["/conf/*/keys", "*/deep"]), &[]).expect("good globs");
    for (path, expected) in [
        (".git", Some(".git/hooks")),
        ("vendor/.Git", Some(".git/hooks")),
        (".git/modules/x", Some(".git/modules/**/hooks")),
        (".vscode", Some(".vscode/{tasks,settings,launch}.json")),
        ("conf", Some("/conf/*/keys")),
        ("conf/any", Some("/conf/*/keys")),
        ("a/conf", None),
        ("src", None),
        ("vendor", None),
        (".ssh", None),
    ] {
        let found = rules.rule_below(Path::new(path)).map(|rule| rule.glob);
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn added_globs_only_tighten() {
    let rules = PathRules::new(
        &globs(&["*.secret", "/top", "Data/Private/"]),
        &globs(&[".env", "migrations"]),
    )
    .expect("good globs");
    for (path, class) in [
        ("a/x.SECRET", Masked),
        ("top/x", Masked),
        ("a/top/x", Open),
        ("a/data/private/x", Masked),
        ("db/migrations/1.sql", Protected),
        // Masked before: naming it protected opens nothing.
        (".env", Masked),
        (".git/config", Protected),
    ] {
        assert_eq!(rules.class(Path::new(path)), class, "{path}");
    }
    assert_eq!(
        rules.rule(Path::new("a/x.secret")).map(|rule| rule.glob),
        Some("*.secret")
    );
    assert_ne!(rules, PathRules::default());
    assert_eq!(PathRules::default(), PathRules::default());
}

#[test]
fn globs_that_would_surprise_are_refused() {
    for (glob, expected) in [
        ("!.env", "begins with `!`"),
        ("../x", "holds `.` or `..`"),
        ("a/./b", "holds `.` or `..`"),
        ("", "names no path"),
        ("/", "names no path"),
        ("**", "names no path"),
        ("*/*", "names no path"),
        ("a//b", "names no path"),
        ("[a", "is no glob"),
        ("{a", "is no glob"),
        ("{a/b,c}", "slash within braces"),
    ] {
        let error = PathRules::new(&globs(&[glob]), &[]).expect_err(glob);
        assert!(error.to_string().contains(expected), "{glob}: {error}");
    }
}
