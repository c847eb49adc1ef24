//! Steps that only the user can do: typing a one-time code or a password, or approving a login elsewhere.

use crate::access::principal::Permission;
use crate::answers::bound::truncated;
use crate::calls::handover::{Handover, HandoverRequest};
use crate::calls::{Call, Elicitation, ElicitationKind, ElicitationResult};
use crate::error::{Error, ErrorCode, Result};
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::Locator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use url::Url;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<HandOver>()];

/// The default of `timeout`: the longest wait for the user.
const USER_TIMEOUT: Duration = Duration::from_secs(120);

/// Have the user do what only they can: type a one-time code or password, which you never see, or approve a login.
#[derive(Deserialize, JsonSchema)]
pub(super) struct HandOver {
    /// What the user is to do, for them to read.
    #[schemars(length(min = 1, max = 2000))]
    request: String,
    /// The field for what they type.
    selector: Option<String>,
}

/// The outcome of the step.
#[derive(Serialize, JsonSchema)]
pub(super) struct HandedOver {
    /// Whether the user has done it.
    done: bool,
    message: String,
    /// The URL of the page on which the user types.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl HandedOver {
    fn done(message: String) -> Self {
        Self {
            done: true,
            message,
            url: None,
        }
    }

    fn not(message: &str) -> Self {
        Self {
            done: false,
            message: message.to_owned(),
            url: None,
        }
    }
}

impl Tool for HandOver {
    const NAME: &'static str = "hand_over";
    const TITLE: &'static str = "Hand over to the user";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const NOT_READY: ErrorCode = ErrorCode::ElementNotEditable;
    type Scope = FreeTab;
    type Output = Object<HandedOver>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<HandedOver>> {
        let result = match &self.selector {
            None => self.confirm_done(&tab, call).await?,
            Some(selector) => {
                // The field is checked before the user is involved. The timeout of the call is for the user.
                let locator = tab.locator_with_wait(selector)?;
                let limit = call.settings.timeouts.action;
                locator.wait_until_editable(&call.within(limit)).await?;
                self.typed(&tab, call, selector, &locator).await?
            }
        };
        Ok(result.into())
    }
}

impl HandOver {
    /// Waits until the user confirms that they have done the step themselves.
    async fn confirm_done(&self, tab: &FreeTab, call: &Call) -> Result<HandedOver> {
        let elicitation = Elicitation {
            text: format!("{}\n(The page: {})", self.request, tab.page.url()),
            kind: ElicitationKind::Action,
        };
        call.set_status("waiting for the user to say that it is done");
        let result =
            tokio::time::timeout(call.timeout_or(USER_TIMEOUT), call.client.ask(&elicitation))
                .await;
        Ok(match result {
            Ok(ElicitationResult::Decided(_)) => {
                HandedOver::done("The user says that it is done".to_owned())
            }
            Ok(ElicitationResult::Declined) => HandedOver::not("The user declined"),
            Ok(ElicitationResult::RetriedByClient) => return Err(Error::Cancelled {}),
            Ok(ElicitationResult::Unsupported) => HandedOver::not(
                "This client cannot ask its user. Tell them what to do yourself, and go on when they say that it is done.",
            ),
            Err(_) => HandedOver::not("The user has not answered yet; call again to go on waiting"),
        })
    }

    /// Lets the user type the value on a page of Playhouse, and types it into the field.
    async fn typed(
        &self,
        tab: &FreeTab,
        call: &Call,
        selector: &str,
        locator: &Locator,
    ) -> Result<HandedOver> {
        let site = site(&tab.page.url());
        let page = tab.page.id().0.to_string();
        let (handover, is_repeated) = call.handovers.open(HandoverRequest {
            request: self.request.clone(),
            site: site.clone(),
            field: [tab.session.id().to_owned(), page, selector.to_owned()],
        });
        let url = call.handovers.url(&handover, call.client.host()).await;
        let waiting = |message: &str| HandedOver {
            url: Some(url.clone()),
            ..HandedOver::not(message)
        };
        let result = tokio::select! {
            biased;
            text = handover.typed() => {
                call.handovers.close(&handover);
                if self::site(&tab.page.url()) != site {
                    return Ok(HandedOver::not(
                        "The page has navigated to another site meanwhile, so nothing was typed",
                    ));
                }
                // Answers mask the value from now on.
                call.settings.secrets.mask_value(&text);
                let progress = call.within(call.settings.timeouts.action);
                let typing = async {
                    locator.fill(&progress, "").await?;
                    // Typed key by key, because some codes have a field for each digit.
                    locator.press_sequentially(&progress, &text, Duration::ZERO).await
                };
                tab.act_briefly(call, typing).await?;
                HandedOver::done(format!("What the user typed is in {selector}"))
            }
            result = request_input(call, &handover, &url, is_repeated) => match result {
                ElicitationResult::Declined => {
                    call.handovers.close(&handover);
                    HandedOver::not("The user declined")
                }
                ElicitationResult::RetriedByClient => return Err(Error::Cancelled {}),
                ElicitationResult::Unsupported | ElicitationResult::Decided(_) => waiting(
                    "This client cannot ask its user. Give them the url, where they type; then make the same call again, which waits for them.",
                ),
            },
            () = tokio::time::sleep(call.timeout_or(USER_TIMEOUT)) => waiting(
                "The user has typed nothing yet; make the same call again to go on waiting",
            ),
        };
        Ok(result)
    }
}

/// Sends the user to the page. Returns only if there is no reason to wait for the user.
async fn request_input(
    call: &Call,
    handover: &Handover,
    url: &str,
    is_repeated: bool,
) -> ElicitationResult {
    let elicitation = Elicitation {
        text: format!(
            "{}\nWhat you type goes into a field of {}.",
            handover.wanted.request, handover.wanted.site
        ),
        kind: ElicitationKind::OpenUrl {
            url: url.to_owned(),
        },
    };
    call.set_status("waiting for the user to type");
    match call.client.ask(&elicitation).await {
        // The user has opened the page.
        ElicitationResult::Decided(_) => std::future::pending().await,
        // The agent repeats the call, so it has given the URL to the user.
        ElicitationResult::Unsupported if is_repeated => std::future::pending().await,
        result => result,
    }
}

/// Returns the origin of a URL, or the beginning of the URL if it has none.
fn site(text: &str) -> String {
    match Url::parse(text) {
        Ok(url) if url.has_host() => url.origin().ascii_serialization(),
        _ => truncated(text, 100),
    }
}
