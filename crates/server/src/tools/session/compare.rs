//! The comparison of a page with a baseline screenshot.

use crate::access::principal::Permission;
use crate::answers::reply::Image;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::files::WrittenFile;
use crate::tools::image_diff::{Difference, compare, scaled};
use crate::tools::image_size;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use crate::tools::verbs::screenshot::full_or_viewport;
use image::{ImageFormat, ImageReader, RgbaImage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::Cursor;
use std::path::Path;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<CompareScreenshot>()];

/// The default of `threshold`.
const DEFAULT_THRESHOLD: f64 = 0.1;
/// The largest number of pixels of an image that contains both screenshots. Each pixel needs several times 4 bytes of memory.
const MAX_PIXELS: u64 = 100_000_000;

/// Compare the page with a baseline screenshot.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompareScreenshot {
    /// File of the image.
    baseline: String,
    /// The whole page, not just the viewport.
    full_page: Option<bool>,
    /// Tolerance for colours, 0 to 1; 0.1 by default.
    #[schemars(range(min = 0, max = 1))]
    threshold: Option<f64>,
    /// Make the page as it is now the baseline.
    update: Option<bool>,
}

/// The difference between the page and the baseline.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Compared {
    diff_percent: f64,
    diff_pixels: u64,
    /// In pixels.
    regions: Vec<Region>,
    /// The URI of the screenshot with the differences marked, or with `update` of the baseline.
    uri: String,
    /// The path of the image, as other tools accept it.
    path: String,
    /// Whether the baseline was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    updated: bool,
}

/// A rectangle with differences, in pixels.
#[derive(Serialize, JsonSchema)]
struct Region {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    /// The number of pixels that differ.
    pixels: u64,
}

impl Tool for CompareScreenshot {
    const NAME: &'static str = "compare_screenshot";
    const TITLE: &'static str = "Compare screenshot";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = FreeTab;
    type Output = Object<Compared>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Compared>> {
        let files = tab.files(call).await;
        let update = self.update == Some(true);
        // Fails before the comparison if the baseline must not be written.
        let writable = update.then(|| files.writable(&self.baseline)).transpose()?;
        let is_missing = |file: &WrittenFile| !file.path.exists();
        let old = match writable.as_ref().is_some_and(is_missing) {
            true => None,
            false => Some(files.read(&self.baseline).await?),
        };
        let options = engine::Screenshot {
            area: full_or_viewport(self.full_page),
            ..engine::Screenshot::default()
        };
        let new = tab.page.screenshot(&call.navigation(), &options).await?;
        files.refuse_large(&new)?;
        let threshold = self.threshold.unwrap_or(DEFAULT_THRESHOLD);
        let current = new.clone();
        let path = files.workspace().join(&self.baseline);
        let compared = tokio::task::spawn_blocking(move || {
            if let Some(old) = &old {
                refuse_large(dimensions(old, &path)?, dimensions(&current, &path)?)?;
            }
            let old = old.map(|old| decode(&old, &path)).transpose()?;
            compare_images(old.as_ref(), &current, &path, threshold)
        });
        let (difference, marked, preview) = compared.await.map_err(|error| Error::Internal {
            tool: call.tool.name,
            reason: error.to_string(),
        })??;
        let (file, written) = match writable {
            Some(baseline) => (baseline, new),
            None => (files.automatic("difference", "png").await?, marked),
        };
        let size = image_size::size(&written).unwrap_or_default();
        files.write_bytes(&file, written).await?;
        let uri = tab.record_screenshot(&files, &file, size, self.full_page == Some(true));
        let Difference {
            pixels,
            percent,
            regions,
        } = difference;
        let regions = regions.into_iter().map(|region| Region {
            x: region.x,
            y: region.y,
            width: region.width,
            height: region.height,
            pixels: region.pixels,
        });
        let answer = Compared {
            diff_percent: percent,
            diff_pixels: pixels,
            regions: regions.collect(),
            uri,
            path: file.link,
            updated: update,
        };
        Ok(Object::from(answer).and_image(Image {
            bytes: preview,
            mime_type: "image/png".to_owned(),
        }))
    }
}

/// Compares two screenshots. Returns the difference, the screenshot with the differences marked, and the same image in a size for models.
/// Without a baseline, nothing differs.
fn compare_images(
    old: Option<&RgbaImage>,
    new: &[u8],
    path: &Path,
    threshold: f64,
) -> Result<(Difference, Vec<u8>, Vec<u8>)> {
    let new = decode(new, path)?;
    let (difference, marked) = compare(old.unwrap_or(&new), &new, threshold);
    let whole = encode(&marked, path)?;
    let preview = match image_size::scale_to_fit(&whole) {
        Some(factor) => encode(&scaled(&marked, factor), path)?,
        None => whole.clone(),
    };
    Ok((difference, whole, preview))
}

/// Fails if an image that contains both screenshots has too many pixels.
fn refuse_large(old: (u32, u32), new: (u32, u32)) -> Result<()> {
    let (width, height) = (old.0.max(new.0), old.1.max(new.1));
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(Error::PictureTooLarge {
            width,
            height,
            limit: MAX_PIXELS,
        });
    }
    Ok(())
}

/// Returns width and height in pixels, read from the header of the image.
fn dimensions(bytes: &[u8], path: &Path) -> Result<(u32, u32)> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let reader = reader.map_err(|error| image_error(path, &error.into()))?;
    reader
        .into_dimensions()
        .map_err(|error| image_error(path, &error))
}

fn decode(bytes: &[u8], path: &Path) -> Result<RgbaImage> {
    let image = image::load_from_memory(bytes).map_err(|error| image_error(path, &error))?;
    Ok(image.into_rgba8())
}

fn encode(image: &RgbaImage, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    image
        .write_to(&mut bytes, ImageFormat::Png)
        .map_err(|error| image_error(path, &error))?;
    Ok(bytes.into_inner())
}

fn image_error(path: &Path, error: &image::ImageError) -> Error {
    let path = path.display().to_string();
    Error::File {
        reason: format!("{path} is not an image that can be compared: {error}"),
        path,
    }
}
