/// The refusal of one point, with a sentence as its reason.
struct PointRefusal: Error {
    var reason: String
}
