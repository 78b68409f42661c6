//! Reads what a Rust file names, from its tokens.
//!
//! Owns the way from text to paths, macros and statics. It works on tokens and not on a syntax
//! tree, so that what stands inside a macro call is seen as well; comments and doc links are not
//! tokens and name nothing. It must never know which names are allowed.

use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree};

/// What one file names.
#[derive(Debug, Default)]
pub struct Source {
    /// Every path of two segments or more, and every path of a `use`.
    pub mentions: Vec<Mention>,
    /// Every macro call, by the last segment of its path.
    pub macros: Vec<(String, usize)>,
    /// Every `static` item.
    pub statics: Vec<Static>,
    /// Lines with a `#[path]` attribute, which would put a file at another place in the tree.
    pub path_attributes: Vec<usize>,
}

/// One path, as written, without a `self` at its end. A glob ends in `*`.
#[derive(Debug)]
pub struct Mention {
    /// The segments.
    pub segments: Vec<String>,
    /// The module it stands in, inline modules included.
    pub module: Vec<String>,
    /// Whether a `use` names it.
    pub imported: bool,
    /// Counted from 1.
    pub line: usize,
}

/// One `static` item.
#[derive(Debug)]
pub struct Static {
    /// Its name.
    pub name: String,
    /// Whether it is `static mut`.
    pub mutable: bool,
    /// Every identifier in its type.
    pub type_names: Vec<String>,
    /// Counted from 1.
    pub line: usize,
}

impl Mention {
    /// The path from the crate's root, if it is one of this crate that says so: it begins with
    /// `crate`, `self`, `super` or the crate's own name.
    pub fn in_crate(&self, crate_name: &str) -> Option<Vec<String>> {
        let (head, rest) = self.segments.split_first()?;
        let mut absolute = match head.as_str() {
            "crate" => Vec::new(),
            "self" => self.module.clone(),
            "super" => self.module[..self.module.len().saturating_sub(1)].to_vec(),
            name if name == crate_name => Vec::new(),
            _ => return None,
        };
        for segment in rest {
            if segment == "super" {
                absolute.pop();
            } else {
                absolute.push(segment.clone());
            }
        }
        Some(absolute)
    }
}

/// Reads a file whose module is `module`.
///
/// # Errors
/// When the text is not Rust tokens.
pub fn read(module: Vec<String>, text: &str) -> Result<Source, LexError> {
    let mut reader = Reader {
        module,
        source: Source::default(),
    };
    reader.scan(&trees(text.parse::<TokenStream>()?), false);
    Ok(reader.source)
}

struct Reader {
    module: Vec<String>,
    source: Source,
}

impl Reader {
    fn scan(&mut self, tokens: &[TokenTree], in_attribute: bool) {
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at] {
                TokenTree::Ident(word) if word == "use" && !is_punct(tokens.get(at + 1), '<') => {
                    self.import(tokens, at + 1)
                }
                TokenTree::Ident(word) if word == "mod" && self.inline_module(tokens, at) => at + 3,
                TokenTree::Ident(word) if word == "static" && !after_quote(tokens, at) => {
                    self.static_item(tokens, at);
                    at + 1
                }
                TokenTree::Ident(_) => self.path(tokens, at, Vec::new(), false),
                TokenTree::Punct(mark) if mark.as_char() == '#' => self.attribute(tokens, at + 1),
                TokenTree::Group(group) => {
                    self.scan(&trees(group.stream()), in_attribute);
                    at + 1
                }
                TokenTree::Literal(literal) => {
                    if in_attribute {
                        self.quoted_path(&literal.to_string(), literal.span().start().line);
                    }
                    at + 1
                }
                TokenTree::Punct(_) => at + 1,
            };
        }
    }

    /// Reads the tree of a `use` and answers where its semicolon is.
    fn import(&mut self, tokens: &[TokenTree], start: usize) -> usize {
        self.tree(&tokens[start..], Vec::new());
        tokens[start..]
            .iter()
            .position(|token| is_punct(Some(token), ';'))
            .map_or(tokens.len(), |length| start + length)
    }

    /// One branch of a `use`.
    fn tree(&mut self, tokens: &[TokenTree], prefix: Vec<String>) {
        let start = if is_separator(tokens, 0) { 2 } else { 0 };
        self.path(tokens, start, prefix, true);
    }

    /// Reads one path, or all that a group makes of it, and answers what follows.
    fn path(
        &mut self,
        tokens: &[TokenTree],
        start: usize,
        prefix: Vec<String>,
        imported: bool,
    ) -> usize {
        let line = tokens
            .get(start)
            .map_or(0, |token| token.span().start().line);
        let mut segments = prefix;
        let mut at = start;
        loop {
            match tokens.get(at) {
                Some(TokenTree::Ident(word)) => segments.push(word.to_string()),
                Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                    segments.push("*".to_owned());
                }
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    for branch in branches(group) {
                        self.tree(&branch, segments.clone());
                    }
                    return at + 1;
                }
                _ => break,
            }
            at += 1;
            if !is_separator(tokens, at) {
                break;
            }
            at += 2;
        }
        if let (true, Some(TokenTree::Group(_)), Some(name)) = (
            is_punct(tokens.get(at), '!'),
            tokens.get(at + 1),
            segments.last(),
        ) {
            self.source.macros.push((name.clone(), line));
        }
        self.mention(segments, imported, line);
        // A path that could not begin here must not stop the scan.
        at.max(start + 1)
    }

    fn mention(&mut self, mut segments: Vec<String>, imported: bool, line: usize) {
        if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
            segments.pop();
        }
        if segments.len() > 1 || imported && !segments.is_empty() {
            self.source.mentions.push(Mention {
                segments,
                module: self.module.clone(),
                imported,
                line,
            });
        }
    }

    /// Reads `mod name { … }` if that is what stands here.
    fn inline_module(&mut self, tokens: &[TokenTree], at: usize) -> bool {
        let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
            (tokens.get(at + 1), tokens.get(at + 2))
        else {
            return false;
        };
        self.module.push(name.to_string());
        self.scan(&trees(body.stream()), false);
        self.module.pop();
        true
    }

    fn static_item(&mut self, tokens: &[TokenTree], at: usize) {
        let mutable = matches!(tokens.get(at + 1), Some(TokenTree::Ident(word)) if word == "mut");
        let name_at = at + 1 + usize::from(mutable);
        let Some(TokenTree::Ident(name)) = tokens.get(name_at) else {
            return;
        };
        let type_tokens: TokenStream = tokens[name_at + 1..]
            .iter()
            .take_while(|token| !is_punct(Some(token), '=') && !is_punct(Some(token), ';'))
            .cloned()
            .collect();
        let mut type_names = Vec::new();
        identifiers(type_tokens, &mut type_names);
        self.source.statics.push(Static {
            name: name.to_string(),
            mutable,
            type_names,
            line: name.span().start().line,
        });
    }

    /// Reads an attribute whose `#` stands before `at`, and answers what follows.
    fn attribute(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let at = at + usize::from(is_punct(tokens.get(at), '!'));
        let Some(TokenTree::Group(group)) = tokens.get(at) else {
            return at;
        };
        let content = trees(group.stream());
        match content.first() {
            Some(TokenTree::Ident(name)) if name == "doc" => {}
            Some(TokenTree::Ident(name)) if name == "path" => {
                let line = name.span().start().line;
                self.source.path_attributes.push(line);
            }
            _ => self.scan(&content, true),
        }
        at + 1
    }

    /// Some derives take paths in quotes, such as `#[serde(with = "crate::x")]`.
    fn quoted_path(&mut self, literal: &str, line: usize) {
        let text = literal.trim_matches('"');
        let is_path = text.contains("::")
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':');
        if is_path {
            let segments = text.split("::").map(str::to_owned).collect();
            self.mention(segments, false, line);
        }
    }
}

fn trees(stream: TokenStream) -> Vec<TokenTree> {
    stream.into_iter().collect()
}

/// What stands between the commas of a group.
fn branches(group: &Group) -> Vec<Vec<TokenTree>> {
    trees(group.stream())
        .split(|token| is_punct(Some(token), ','))
        // The last comma may have nothing after it.
        .filter(|branch| !branch.is_empty())
        .map(<[TokenTree]>::to_vec)
        .collect()
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':')
}

/// Whether the word at `at` is the name of a lifetime.
fn after_quote(tokens: &[TokenTree], at: usize) -> bool {
    at > 0 && is_punct(tokens.get(at - 1), '\'')
}

fn identifiers(stream: TokenStream, names: &mut Vec<String>) {
    for token in stream {
        match token {
            TokenTree::Ident(name) => names.push(name.to_string()),
            TokenTree::Group(group) => identifiers(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
