//! What the cinema knows: users, their bookings, the movies.

use serde_json::{Value, json};

const USERS: [&str; 7] = [
    "chris_rivers",
    "peter_curley",
    "garret_heaton",
    "michael_scott",
    "jim_halpert",
    "pam_beesly",
    "dwight_schrute",
];

const CREED: &str = "267eedb8-0f5d-42d5-8f43-72426b9fb3e6";
const VICTOR_FRANKENSTEIN: &str = "7daf7208-be4d-4944-a3ae-c1c2f516f3e6";
const THE_DANISH_GIRL: &str = "276c79ec-a26a-40a6-b3d3-fb242a5947b6";
const THE_MARTIAN: &str = "a8034f44-aee4-44cf-b32c-74cf452aaaae";

/// The user every scenario asks about.
pub(super) const CUSTOMER: &str = "chris_rivers";

pub(super) fn is_user(name: &str) -> bool {
    USERS.contains(&name)
}

/// A movie as the Movies service tells it.
pub(super) fn movie(id: &str) -> Option<Value> {
    let (title, rating, director) = match id {
        CREED => ("Creed", 8.8, "Ryan Coogler"),
        VICTOR_FRANKENSTEIN => ("Victor Frankenstein", 6.4, "Paul McGuigan"),
        THE_DANISH_GIRL => ("The Danish Girl", 5.3, "Tom Hooper"),
        THE_MARTIAN => ("The Martian", 8.2, "Ridley Scott"),
        _ => return None,
    };
    Some(json!({
        "title": title,
        "rating": rating,
        "director": director,
        "id": id,
        "uri": format!("/movies/{id}"),
    }))
}

/// The part of a movie that a list of bookings shows.
pub(super) fn summary(movie: &Value) -> Value {
    json!({"title": movie["title"], "rating": movie["rating"], "uri": movie["uri"]})
}

/// The ids a user has booked, by date.
pub(super) fn bookings(user: &str) -> Option<Value> {
    match user {
        "chris_rivers" => Some(json!({"20151201": [CREED]})),
        "garret_heaton" => Some(json!({"20151201": [CREED], "20151202": [THE_DANISH_GIRL]})),
        "dwight_schrute" => Some(json!({
            "20151201": [VICTOR_FRANKENSTEIN, CREED],
            "20151205": [THE_MARTIAN, THE_DANISH_GIRL],
        })),
        _ => None,
    }
}

/// The same from a replica that has fallen behind.
pub(super) fn stale_bookings(user: &str) -> Option<Value> {
    match user {
        "chris_rivers" => Some(json!({"20151201": [VICTOR_FRANKENSTEIN]})),
        other => bookings(other),
    }
}

/// What Users shows when it cannot ask for bookings.
pub(super) fn default_bookings() -> Value {
    json!({"20151201": [CREED]})
}

/// What Users shows when it cannot ask for a movie.
pub(super) fn default_movie() -> Value {
    movie(CREED).expect("Creed is a movie")
}

/// The customer's bookings as Users answers when all is well.
pub(super) fn happy_answer() -> Value {
    json!({"20151201": [summary(&default_movie())]})
}

/// The same from the replica that has fallen behind.
pub(super) fn stale_answer() -> Value {
    let movie = movie(VICTOR_FRANKENSTEIN).expect("Victor Frankenstein is a movie");
    json!({"20151201": [summary(&movie)]})
}
