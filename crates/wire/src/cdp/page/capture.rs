//! Screenshots, PDF, screencast, and the layout sizes that they need.

use serde::{Deserialize, Serialize};

use crate::cdp::{Binary, Empty, command, dom, event, io};

/// [`Page.captureScreenshot`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-captureScreenshot)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureScreenshot {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ImageFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<Viewport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_surface: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_beyond_viewport: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimize_for_speed: Option<bool>,
}
command!(
    CaptureScreenshot,
    "Page.captureScreenshot",
    CaptureScreenshotResponse
);

/// The result of [`CaptureScreenshot`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CaptureScreenshotResponse {
    pub data: Binary,
}

/// Prints a PDF; lengths are in inches.
/// [`Page.printToPDF`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-printToPDF)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrintToPDF {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landscape: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_header_footer: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub print_background: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_height: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_top: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_bottom: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_left: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_right: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_ranges: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_template: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footer_template: Option<String>,
    #[serde(rename = "preferCSSPageSize", skip_serializing_if = "Option::is_none")]
    pub prefer_css_page_size: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_mode: Option<TransferMode>,
    #[serde(rename = "generateTaggedPDF", skip_serializing_if = "Option::is_none")]
    pub generate_tagged_pdf: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate_document_outline: Option<bool>,
}
command!(PrintToPDF, "Page.printToPDF", PrintToPDFResponse);

/// The result of [`PrintToPDF`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PrintToPDFResponse {
    pub data: Binary,
    pub stream: Option<io::StreamHandle>,
}

/// A size, in CSS pixels.
/// [`Page.getLayoutMetrics`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-getLayoutMetrics)
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetLayoutMetrics {}
command!(
    GetLayoutMetrics,
    "Page.getLayoutMetrics",
    GetLayoutMetricsResponse
);

/// The result of [`GetLayoutMetrics`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetLayoutMetricsResponse {
    pub css_layout_viewport: LayoutViewport,
    pub css_visual_viewport: VisualViewport,
    pub css_content_size: dom::Rect,
}

/// [`Page.LayoutViewport`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-LayoutViewport)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LayoutViewport {
    pub page_x: i64,
    pub page_y: i64,
    pub client_width: i64,
    pub client_height: i64,
}

/// [`Page.VisualViewport`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-VisualViewport)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VisualViewport {
    pub offset_x: f64,
    pub offset_y: f64,
    pub page_x: f64,
    pub page_y: f64,
    pub client_width: f64,
    pub client_height: f64,
    pub scale: f64,
    pub zoom: Option<f64>,
}

/// A rectangle, in CSS pixels from the origin of the document.
/// [`Page.Viewport`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-Viewport)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Viewport {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub scale: f64,
}

/// Starts to send [`ScreencastFrame`]s whenever the page is drawn anew.
/// [`Page.startScreencast`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-startScreencast)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartScreencast {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ImageFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_height: Option<u32>,
}
command!(StartScreencast, "Page.startScreencast", Empty);

/// [`Page.stopScreencast`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-stopScreencast)
#[derive(Debug, Clone, Default, Serialize)]
pub struct StopScreencast {}
command!(StopScreencast, "Page.stopScreencast", Empty);

/// Acknowledges a [`ScreencastFrame`]. The browser sends no further frames while several are not acknowledged.
/// [`Page.screencastFrameAck`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-screencastFrameAck)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScreencastFrameAck {
    pub session_id: i64,
}
command!(ScreencastFrameAck, "Page.screencastFrameAck", Empty);

/// [`Page.screencastFrame`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-screencastFrame)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScreencastFrame {
    pub data: Binary,
    pub metadata: ScreencastFrameMetadata,
    /// The number for [`ScreencastFrameAck`], which is not a session of the protocol.
    pub session_id: i64,
}
event!(ScreencastFrame, "Page.screencastFrame");

/// [`Page.ScreencastFrameMetadata`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-ScreencastFrameMetadata)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScreencastFrameMetadata {
    /// When the frame was drawn, in seconds since 1970.
    pub timestamp: Option<f64>,
}

/// The values of `format` in `Page.captureScreenshot`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ImageFormat {
    #[default]
    Jpeg,
    Png,
    Webp,
}

/// The values of `transferMode` in `Page.printToPDF`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub enum TransferMode {
    #[default]
    ReturnAsBase64,
    ReturnAsStream,
}
