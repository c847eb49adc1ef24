//! Screenshots: the file, and the image in the answer, which is small enough for models.

use crate::answers::reply::Image;
use crate::calls::Call;
use crate::error::Result;
use crate::files::WrittenFile;
use crate::tools::image_size;
use crate::tools::scope::TabInAnyState;
use engine::{AnnotatedScreenshot, Screenshot, ScreenshotArea, ScreenshotFormat, VisibleRef};
use schemars::JsonSchema;
use serde::Deserialize;

/// The default quality of JPEG and WebP, from 0 to 100. Higher values make the file much larger, without visible differences.
const DEFAULT_QUALITY: u8 = 90;

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Format {
    Png,
    Jpeg,
    Webp,
}

impl Format {
    /// Returns the requested format, or that of the file's extension, or PNG.
    pub(crate) fn of(requested: Option<Self>, filename: Option<&str>) -> Self {
        let of_extension = || {
            let (_, extension) = filename?.rsplit_once('.')?;
            match extension.to_ascii_lowercase().as_str() {
                "jpg" | "jpeg" => Some(Self::Jpeg),
                "webp" => Some(Self::Webp),
                _ => None,
            }
        };
        requested.or_else(of_extension).unwrap_or(Self::Png)
    }

    /// Returns the quality of the image, or `None` for PNG.
    pub(crate) fn quality(self, requested: Option<u8>) -> Option<u8> {
        (self != Self::Png).then_some(requested.unwrap_or(DEFAULT_QUALITY))
    }
}

impl From<Format> for ScreenshotFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Png => Self::Png,
            Format::Jpeg => Self::Jpeg,
            Format::Webp => Self::Webp,
        }
    }
}

pub(crate) fn full_or_viewport(full_page: Option<bool>) -> ScreenshotArea {
    if full_page == Some(true) {
        ScreenshotArea::FullPage
    } else {
        ScreenshotArea::Viewport
    }
}

/// The parameters of a screenshot.
pub(crate) struct Request<'a> {
    pub(crate) area: ScreenshotArea,
    pub(crate) format: Format,
    pub(crate) quality: Option<u8>,
    /// Whether the image has one pixel per CSS pixel, whatever the device scale factor.
    pub(crate) css_scale: bool,
    /// The greatest width in pixels.
    pub(crate) max_width: Option<u32>,
    /// Whether the elements that a person can act on have boxes with their refs.
    pub(crate) annotate: bool,
    /// The name of the file. `None` for a generated name that begins with `prefix`.
    pub(crate) filename: Option<&'a str>,
    pub(crate) prefix: &'a str,
}

/// A screenshot that was written to a file.
pub(crate) struct WrittenScreenshot {
    pub(crate) file: WrittenFile,
    /// The URI of the file as a resource.
    pub(crate) uri: String,
    /// Width and height in pixels.
    pub(crate) size: (u32, u32),
    bytes: Vec<u8>,
    /// The options, with the factor by which the image is smaller.
    pub(crate) options: Screenshot,
    annotated: Option<AnnotatedScreenshot>,
}

/// Takes a screenshot and writes it to a file. Fails before the screenshot is taken if the file must not be written.
pub(crate) async fn take(
    tab: &TabInAnyState,
    call: &Call,
    request: Request<'_>,
) -> Result<WrittenScreenshot> {
    let files = tab.files(call).await;
    let writable = request.filename.map(|name| files.writable(name));
    let writable = writable.transpose()?;
    let mut options = Screenshot {
        format: request.format.into(),
        quality: request.format.quality(request.quality),
        area: request.area,
        css_scale: request.css_scale,
        ..Screenshot::default()
    };
    let progress = call.navigation();
    let annotated = match request.annotate {
        true => Some(tab.page.annotated_screenshot(&progress, &options).await?),
        false => None,
    };
    let mut bytes = image(tab, call, annotated.as_ref(), &options).await?;
    let mut size = image_size::size(&bytes).unwrap_or_default();
    if let Some(width) = request.max_width.filter(|width| *width < size.0) {
        options.shrink = f64::from(width) / f64::from(size.0);
        bytes = image(tab, call, annotated.as_ref(), &options).await?;
        size = image_size::size(&bytes).unwrap_or_default();
    }
    files.refuse_large(&bytes)?;
    let file = match writable {
        Some(file) => file,
        None => {
            let extension: &str = request.format.into();
            files.automatic(request.prefix, extension).await?
        }
    };
    files.write_bytes(&file, bytes.clone()).await?;
    let full_page = request.area == ScreenshotArea::FullPage;
    let uri = tab.record_screenshot(&files, &file, size, full_page);
    Ok(WrittenScreenshot {
        file,
        uri,
        size,
        bytes,
        options,
        annotated,
    })
}

/// Returns the image with these options: one of the annotated screenshot, otherwise of the page.
async fn image(
    tab: &TabInAnyState,
    call: &Call,
    annotated: Option<&AnnotatedScreenshot>,
    options: &Screenshot,
) -> Result<Vec<u8>> {
    Ok(match annotated {
        Some(screenshot) => screenshot.image(options).await?,
        None => tab.page.screenshot(&call.navigation(), options).await?,
    })
}

impl WrittenScreenshot {
    /// Scales the image down if it is too large for models. The file is unchanged.
    pub(crate) async fn fit(&mut self, tab: &TabInAnyState, call: &Call) -> Result<()> {
        if let Some(factor) = image_size::scale_to_fit(&self.bytes) {
            self.options.shrink *= factor;
            self.bytes = image(tab, call, self.annotated.as_ref(), &self.options).await?;
        }
        Ok(())
    }

    /// Returns the elements whose refs are on the image.
    pub(crate) fn elements(&self) -> &[VisibleRef] {
        self.annotated
            .as_ref()
            .map_or(&[], AnnotatedScreenshot::elements)
    }

    /// Returns the image for the answer.
    pub(crate) fn into_image(self) -> Image {
        Image {
            bytes: self.bytes,
            mime_type: format!("image/{}", self.options.format),
        }
    }
}

/// Rounds a factor to four digits, which is exact enough for the largest image.
pub(crate) fn rounded(factor: f64) -> f64 {
    (factor * 1e4).round() / 1e4
}
