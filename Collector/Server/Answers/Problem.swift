/// The body of an answer that is not a success.
struct Problem: Encodable {
    var error: String
}
