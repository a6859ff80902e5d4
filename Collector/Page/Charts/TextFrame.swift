/// A part of a picture that is taken, in pixels.
struct TextFrame: Equatable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    func meets(_ other: TextFrame) -> Bool {
        x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
    }
}
