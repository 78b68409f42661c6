//! Any run on a tree, undone, and the undo undone.

use super::*;
use proptest::prelude::*;

/// Something a tool does. It may fail: then nothing happened, and nothing is taken back.
#[derive(Debug, Clone)]
enum Act {
    Write(&'static str, &'static str),
    Remove(&'static str),
    MakeDirectory(&'static str),
    RemoveDirectory(&'static str),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
    Touch(&'static str),
}

fn act(directory: &Directory, act: &Act) {
    // Whether it works is for the file system to say.
    let _ = match act {
        Act::Write(path, content) => write(directory, path, content),
        Act::Remove(path) => directory.remove_file(path).is_ok(),
        Act::MakeDirectory(path) => directory.create_directory(path).is_ok(),
        Act::RemoveDirectory(path) => directory.remove_directory(path).is_ok(),
        Act::Rename(from, to) => directory.rename(from, directory, to).is_ok(),
        Act::Link(target, path) => directory.symbolic_link(target, path).is_ok(),
        Act::Touch(path) => directory
            .set_times_of(path, false, NewTime::Now, NewTime::Now)
            .is_ok(),
    };
}

fn any_act() -> impl Strategy<Value = Act> {
    let path = prop::sample::select(
        &[
            "a",
            "run.sh",
            "src",
            "src/b",
            "src/deep",
            "src/deep/c",
            "inside",
            "outside",
            "new",
            "new/x",
            "src/new",
            "other",
        ][..],
    );
    let content = prop::sample::select(&["", "one\n", "x\ny\n"][..]);
    prop_oneof![
        4 => (path.clone(), content).prop_map(|(path, content)| Act::Write(path, content)),
        2 => path.clone().prop_map(Act::Remove),
        2 => path.clone().prop_map(Act::MakeDirectory),
        1 => path.clone().prop_map(Act::RemoveDirectory),
        3 => (path.clone(), path.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (path.clone(), path.clone()).prop_map(|(target, path)| Act::Link(target, path)),
        1 => path.prop_map(Act::Touch),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever a run does, in however many calls, its undo leaves the tree as it was, and the undo
    /// of the undo as the run left it.
    #[test]
    fn an_undo_brings_back_every_tree(calls in prop::collection::vec(prop::collection::vec(any_act(), 0..6), 1..4)) {
        let place = Place::new();
        let before = place.tree();
        let recorder = place.recorder("first");
        for (number, acts) in (1..).zip(&calls) {
            place.call(&recorder, number, 1, |directory| {
                for one in acts {
                    act(directory, one);
                }
            });
        }
        let after = place.tree();
        match place.undo("first", "second", false) {
            Ok(restored) => {
                prop_assert_eq!(&restored.lost, &[]);
                prop_assert_eq!(&place.tree(), &before);
                match place.undo("second", "third", false) {
                    Ok(restored) => prop_assert_eq!(&restored.lost, &[]),
                    // The undo had nothing to do: the run had taken itself back.
                    Err(UndoError::Selection(_)) => prop_assert_eq!(&after, &before),
                    Err(other) => panic!("{other}"),
                }
                prop_assert_eq!(place.tree(), after);
            }
            Err(UndoError::Selection(SelectionError::Nothing)) => prop_assert_eq!(after, before),
            Err(other) => panic!("{other}"),
        }
    }
}

/// What the property above found.
#[test]
fn names_that_change_kind_come_back() {
    let runs: [&[Act]; 3] = [
        // A link comes to be where the directory of a path was.
        &[
            Act::Rename("run.sh", "src/deep/c"),
            Act::Rename("src", "run.sh"),
            Act::Link("run.sh", "src"),
        ],
        // A link to itself comes to be there.
        &[
            Act::Rename("src/b", "a"),
            Act::Rename("src", "inside"),
            Act::Rename("inside", "a"),
        ],
        // A link to something outside comes to be there.
        &[
            Act::Write("src/deep/c", "x"),
            Act::Rename("src", "other"),
            Act::Rename("outside", "src"),
        ],
    ];
    for acts in runs {
        for split in 0..=acts.len() {
            let place = Place::new();
            let before = place.tree();
            let recorder = place.recorder("first");
            for (number, acts) in (1..).zip([&acts[..split], &acts[split..]]) {
                place.call(&recorder, number, 1, |directory| {
                    acts.iter().for_each(|one| act(directory, one));
                });
            }
            let after = place.tree();
            if let Err(error) = place.undo("first", "second", false) {
                panic!("{acts:?} {split}: {error:?}");
            }
            assert_eq!(place.tree(), before);
            if let Err(error) = place.undo("second", "third", false) {
                panic!("{acts:?} {split}: {error:?}");
            }
            assert_eq!(place.tree(), after);
        }
    }
}
