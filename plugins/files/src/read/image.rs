//! Whether an image can go to a model.
//!
//! Owns the size limits and the check that the image is whole. It exists because a vendor refuses
//! the whole request over one bad image, and the image stays in the history: the check has to
//! come before. It must never decode pixels.

use super::sniff::ImageFormat;
use memchr::memmem;

/// Bytes of a file that fit in 5 MiB of base64, the least that a vendor takes an image in.
pub const MAX_BYTES: u64 = 5 * 1024 * 1024 / 4 * 3;
/// Pixels a side; the least that a vendor takes.
pub const MAX_SIDE: usize = 8_000;

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Pixels from left to right.
    pub width: usize,
    /// Pixels from top to bottom.
    pub height: usize,
}

/// Why an image cannot go to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// It is cut off or damaged.
    Damaged,
    /// A side is longer than [`MAX_SIDE`], or there is no pixel at all.
    Side(Size),
}

/// Checks a whole image of the format that its signature says.
pub fn check(format: ImageFormat, bytes: &[u8]) -> Result<Size, Unfit> {
    let size = imagesize::blob_size(bytes).map_err(|_| Unfit::Damaged)?;
    let size = Size {
        width: size.width,
        height: size.height,
    };
    if !is_whole(format, bytes) {
        return Err(Unfit::Damaged);
    }
    let fits = 1..=MAX_SIDE;
    if fits.contains(&size.width) && fits.contains(&size.height) {
        Ok(size)
    } else {
        Err(Unfit::Side(size))
    }
}

/// Each format says where it ends; a download that broke off lacks that. Bytes after the end are
/// common and harmless.
fn is_whole(format: ImageFormat, bytes: &[u8]) -> bool {
    match format {
        ImageFormat::Png => memmem::rfind(bytes, b"IEND\xAE\x42\x60\x82").is_some(),
        ImageFormat::Jpeg => memmem::rfind(bytes, b"\xFF\xD9").is_some(),
        ImageFormat::Gif => memchr::memrchr(b';', bytes).is_some_and(|at| at > 12),
        ImageFormat::WebP => match bytes.get(4..8) {
            Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]) as usize + 8 <= bytes.len(),
            _ => false,
        },
    }
}

#[cfg(test)]
pub mod samples {
    //! Real images of one pixel.

    /// A PNG of 1 x 1 pixel.
    pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";
    /// A GIF of 1 x 1 pixel.
    pub const GIF: &[u8] =
        b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Size = Size {
        width: 1,
        height: 1,
    };

    #[test]
    fn whole_images_pass_and_cut_ones_do_not() {
        let mut wide = samples::PNG.to_vec();
        wide[16..20].copy_from_slice(&9_000u32.to_be_bytes());
        let mut flat = samples::PNG.to_vec();
        flat[20..24].copy_from_slice(&0u32.to_be_bytes());
        type Case<'a> = (&'a str, ImageFormat, &'a [u8], Result<Size, Unfit>);
        let cases: &[Case<'_>] = &[
            ("png", ImageFormat::Png, samples::PNG, Ok(ONE)),
            ("gif", ImageFormat::Gif, samples::GIF, Ok(ONE)),
            (
                "cut png",
                ImageFormat::Png,
                &samples::PNG[..60],
                Err(Unfit::Damaged),
            ),
            (
                "bare signature",
                ImageFormat::Png,
                &samples::PNG[..8],
                Err(Unfit::Damaged),
            ),
            (
                "cut gif",
                ImageFormat::Gif,
                &samples::GIF[..20],
                Err(Unfit::Damaged),
            ),
            (
                "wide png",
                ImageFormat::Png,
                &wide,
                Err(Unfit::Side(Size {
                    width: 9_000,
                    height: 1,
                })),
            ),
            (
                "flat png",
                ImageFormat::Png,
                &flat,
                Err(Unfit::Side(Size {
                    width: 1,
                    height: 0,
                })),
            ),
            (
                "bare jpeg",
                ImageFormat::Jpeg,
                b"\xFF\xD8\xFF\xE0",
                Err(Unfit::Damaged),
            ),
            (
                "bare webp",
                ImageFormat::WebP,
                b"RIFF\xFF\0\0\0WEBP",
                Err(Unfit::Damaged),
            ),
        ];
        for (what, format, bytes, expected) in cases {
            assert_eq!(check(*format, bytes), *expected, "{what}");
        }
    }
}
