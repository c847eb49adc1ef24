//! The bodies of requests and responses.

use super::BidiPage;
use crate::backend::{RequestId, Requests};
use crate::error::{Error, Result};
use async_trait::async_trait;
use wire::bidi::network::{DataType, GetData};

#[async_trait]
impl Requests for BidiPage {
    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>> {
        self.body(request, DataType::Response).await
    }

    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>> {
        match self.body(request, DataType::Request).await {
            Ok(body) => Ok(Some(body)),
            // Firefox returns an error for a request without a body.
            Err(Error::Protocol { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl BidiPage {
    async fn body(&self, request: &RequestId, data_type: DataType) -> Result<Vec<u8>> {
        let request = request.as_str().to_owned();
        let data = self.root().call(&GetData { data_type, request }).await?;
        Ok(data.bytes.into_bytes())
    }
}
