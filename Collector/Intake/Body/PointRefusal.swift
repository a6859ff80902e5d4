/// The refusal of one point, with a sentence as its reason.
struct PointRefusal: Error {
    var reason: String

    static let countOfBuckets = PointRefusal(reason: "the count is not the sum of the buckets")
}
