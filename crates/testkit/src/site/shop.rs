//! The server side of `examples/shop`: logins, products and orders.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Form, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Json, Redirect, Response};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Shared;
use super::endpoints::cookie_map;

/// The valid logins.
#[derive(Default)]
pub(super) struct Shop {
    tickets: Mutex<BTreeSet<String>>,
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/login", post(login))
        .route("/logout", post(logout))
        .route("/session", get(session))
        .route("/products", get(products))
        .route("/orders", get(orders))
        .route("/stock", get(stock))
        .route("/invoice", get(invoice))
}

const EMAIL: &str = "ada@example.com";
const PASSWORD: &str = "lovelace";
const COOKIE: &str = "shop_session";

#[derive(Deserialize)]
struct Credentials {
    email: String,
    password: String,
}

async fn login(State(shared): State<Arc<Shared>>, Form(given): Form<Credentials>) -> Response {
    if given.email != EMAIL || given.password != PASSWORD {
        return Redirect::to("/shop/login.html?wrong").into_response();
    }
    let mut tickets = shared.shop.tickets.lock().expect("not poisoned");
    let ticket = format!("ticket-{}", tickets.len() + 1);
    let cookie = format!("{COOKIE}={ticket}; Path=/; HttpOnly; SameSite=Lax");
    tickets.insert(ticket);
    ([(SET_COOKIE, cookie)], Redirect::to("/shop/account.html")).into_response()
}

async fn logout(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if let Some(ticket) = cookie_map(&headers).get(COOKIE) {
        shared
            .shop
            .tickets
            .lock()
            .expect("not poisoned")
            .remove(ticket);
    }
    (
        StatusCode::NO_CONTENT,
        [(SET_COOKIE, format!("{COOKIE}=; Path=/; Max-Age=0"))],
    )
        .into_response()
}

async fn session(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    let signed_in = cookie_map(&headers).get(COOKIE).is_some_and(|ticket| {
        shared
            .shop
            .tickets
            .lock()
            .expect("not poisoned")
            .contains(ticket)
    });
    if signed_in {
        Json(json!({ "name": "Ada", "email": EMAIL })).into_response()
    } else {
        (
            StatusCode::UNAUTHORIZED,
            Json(json!({ "error": "no user is signed in" })),
        )
            .into_response()
    }
}

#[derive(Serialize)]
struct Product {
    id: usize,
    name: &'static str,
    price: u32,
}

const PRODUCTS: [(&str, u32); 12] = [
    ("Kettle", 24),
    ("Teapot", 18),
    ("Whisk", 6),
    ("Ladle", 7),
    ("Bread knife", 15),
    ("Cutting board", 12),
    ("Espresso cup", 5),
    ("Saucepan", 29),
    ("Sieve", 9),
    ("Rolling pin", 11),
    ("Egg timer", 8),
    ("Tea towel", 4),
];

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    q: String,
    #[serde(default)]
    delay: u64,
}

async fn products(Query(search): Query<Search>) -> impl IntoResponse {
    pause(search.delay).await;
    let query = search.q.trim().to_lowercase();
    let found: Vec<_> = (1..)
        .zip(PRODUCTS)
        .filter(|(_, (name, _))| name.to_lowercase().contains(&query))
        .map(|(id, (name, price))| Product { id, name, price })
        .collect();
    Json(found)
}

#[derive(Serialize)]
struct Order {
    number: u32,
    customer: &'static str,
    total: f64,
    state: &'static str,
}

const ORDERS: u32 = 42;

fn order(index: u32) -> Order {
    const CUSTOMERS: [&str; 6] = ["Ada", "Grace", "Alan", "Barbara", "Edsger", "Margaret"];
    const STATES: [&str; 3] = ["open", "paid", "sent"];
    Order {
        number: 1000 + index,
        customer: CUSTOMERS[index as usize * 5 % CUSTOMERS.len()],
        total: f64::from(index * 37 % 101) + 4.5,
        state: STATES[index as usize % STATES.len()],
    }
}

#[derive(Deserialize)]
#[serde(default)]
struct View {
    page: usize,
    size: usize,
    sort: String,
    descending: bool,
    delay: u64,
}

impl Default for View {
    fn default() -> Self {
        Self {
            page: 1,
            size: 5,
            sort: "number".to_owned(),
            descending: false,
            delay: 0,
        }
    }
}

async fn orders(Query(view): Query<View>) -> impl IntoResponse {
    pause(view.delay).await;
    let mut orders: Vec<_> = (1..=ORDERS).map(order).collect();
    orders.sort_by(|one, other| {
        let by_column = match view.sort.as_str() {
            "customer" => one.customer.cmp(other.customer),
            "total" => one.total.total_cmp(&other.total),
            _ => Ordering::Equal,
        };
        let order = by_column.then(one.number.cmp(&other.number));
        if view.descending {
            order.reverse()
        } else {
            order
        }
    });
    let size = view.size.clamp(1, 100);
    let pages = orders.len().div_ceil(size);
    let page = view.page.clamp(1, pages);
    let orders: Vec<_> = orders
        .into_iter()
        .skip((page - 1) * size)
        .take(size)
        .collect();
    Json(json!({ "orders": orders, "page": page, "pages": pages }))
}

#[derive(Deserialize)]
struct Delay {
    #[serde(default)]
    delay: u64,
}

async fn stock(Query(wanted): Query<Delay>) -> impl IntoResponse {
    pause(wanted.delay).await;
    Json(json!({ "count": 128 }))
}

async fn invoice() -> impl IntoResponse {
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"invoice.csv\""),
    ];
    (headers, "item,price\nKettle,24\nWhisk,6\n")
}

async fn pause(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}
