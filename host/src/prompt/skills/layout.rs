//! The copy of the skills that the tools of a run see.
//!
//! Owns putting the listed skills, from wherever they are installed, into one directory to be
//! mounted at `/skills`. So a tool reaches exactly what the prompt lists, and what a run does in
//! its workspace cannot change the instructions it works by. Links and special files stay behind.

use super::{Skill, SkillIndex};
use std::fs;
use std::io;
use std::path::Path;

/// The most files and directories of one skill.
const MAX_ENTRIES: usize = 2_000;
/// The most bytes of one skill, which may bring templates and fonts.
const MAX_BYTES: u64 = 32 << 20;

impl SkillIndex {
    /// Copies the listed skills below `directory`, which is there and empty. One that cannot be
    /// copied is listed no longer, and a notice says why. Blocks on files.
    pub fn lay_out(&mut self, directory: &Path) {
        for skill in std::mem::take(&mut self.skills) {
            let target = directory.join(&skill.name);
            match copy(&skill, &target) {
                Ok(()) => self.skills.push(skill),
                Err(why) => {
                    // What is left of it would be half a skill.
                    let _ = fs::remove_dir_all(&target);
                    self.refuse(&skill.name, why);
                }
            }
        }
    }
}

fn copy(skill: &Skill, target: &Path) -> Result<(), String> {
    let mut room = Room {
        entries: MAX_ENTRIES,
        bytes: MAX_BYTES,
    };
    copy_directory(&skill.home, target, &mut room)
        .map_err(|error| format!("it cannot be copied for this run: {error}"))
}

/// What may still be copied of a skill.
struct Room {
    entries: usize,
    bytes: u64,
}

impl Room {
    fn take(&mut self, bytes: u64) -> io::Result<()> {
        let (Some(entries), Some(bytes)) =
            (self.entries.checked_sub(1), self.bytes.checked_sub(bytes))
        else {
            return Err(io::Error::other(format!(
                "it has more than {MAX_ENTRIES} files or {} MiB",
                MAX_BYTES >> 20
            )));
        };
        *self = Room { entries, bytes };
        Ok(())
    }
}

fn copy_directory(from: &Path, to: &Path, room: &mut Room) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if metadata.is_dir() {
            room.take(0)?;
            copy_directory(&from, &to, room)?;
        } else if metadata.is_file() {
            room.take(metadata.len())?;
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(root: &Path, name: &str) -> std::path::PathBuf {
        let home = root.join(name);
        fs::create_dir_all(&home).expect("the skill");
        let text = format!("---\nname: {name}\ndescription: d\n---\n");
        fs::write(home.join("SKILL.md"), text).expect("the file");
        home
    }

    #[test]
    fn tools_see_what_is_listed_and_nothing_else() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let target = tempfile::tempdir().expect("a temporary directory");
        let good = skill(root.path(), "good");
        fs::create_dir(good.join("scripts")).expect("a directory");
        fs::write(good.join("scripts/run.sh"), "echo").expect("a file");
        fs::create_dir(root.path().join("bad")).expect("a directory");
        fs::write(root.path().join("bad/SKILL.md"), "no front matter").expect("a file");
        fs::write(root.path().join("secret"), "beside the skills").expect("a file");
        #[cfg(unix)]
        std::os::unix::fs::symlink("../secret", good.join("link")).expect("a link");

        let mut index = SkillIndex::read(&[root.path().to_owned()]);
        index.lay_out(target.path());
        let names = |path: &Path| {
            let entries = fs::read_dir(path).expect("a directory");
            let mut names: Vec<_> = entries
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(target.path()), ["good"]);
        assert_eq!(names(&target.path().join("good")), ["SKILL.md", "scripts"]);
        assert_eq!(names(&target.path().join("good/scripts")), ["run.sh"]);
    }

    #[test]
    fn a_skill_that_is_too_large_is_left_out_whole_and_told() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let target = tempfile::tempdir().expect("a temporary directory");
        skill(root.path(), "good");
        let large = skill(root.path(), "large");
        let file = fs::File::create(large.join("data")).expect("a file");
        file.set_len(MAX_BYTES + 1).expect("a sparse file");
        let many = skill(root.path(), "many");
        for number in 0..MAX_ENTRIES {
            fs::write(many.join(number.to_string()), "").expect("a file");
        }
        let mut index = SkillIndex::read(&[root.path().to_owned()]);
        index.lay_out(target.path());
        let listed: Vec<&str> = index.skills.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(listed, ["good"]);
        assert_eq!(index.notices.len(), 2, "{:?}", index.notices);
        for notice in &index.notices {
            assert!(
                notice.reason.contains("more than 2000 files or 32 MiB"),
                "{notice}"
            );
        }
        assert!(!target.path().join("large").exists());
        assert!(!target.path().join("many").exists());
    }
}
