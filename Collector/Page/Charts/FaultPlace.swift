/// The middle of the text about an edge's faults: on the line if it is clear there of counts, boxes and other texts.
struct FaultPlace: Equatable {
    /// Half the height of the text's frame, in pixels.
    static let halfHeight = 12.0
    /// The height from a line to the counts, which stand above its ends.
    private static let clearance = 3.0
    /// A line that rises or falls by more leads away from the counts.
    private static let steep = 60.0

    var x: Double
    var y: Double

    /// - Parameters:
    ///   - width: that of the text's frame.
    ///   - counts: the room that the counts take at the line's beginning and at its end.
    init(_ wire: MapLayout.Wire, width: Double, counts: (start: Double, end: Double)) {
        guard wire.course == .forward else {
            (x, y) = ((wire.x1 + wire.x2) / 2, wire.crest)
            return
        }
        let middle = (x: (wire.x1 + wire.x2) / 2, y: (wire.y1 + wire.y2) / 2)
        let (least, most) = (wire.x1 + counts.start + width / 2, wire.x2 - counts.end - width / 2)
        if abs(wire.y2 - wire.y1) > Self.steep {
            (x, y) = middle
        } else if least <= most {
            (x, y) = (min(max(middle.x, least), most), middle.y)
        } else {
            (x, y) = (middle.x, max(wire.y1, wire.y2) + Self.halfHeight - Self.clearance)
        }
    }

    /// Returns this place, one below the line's beginning, or one farther below; the first that is free.
    func free(of taken: [TextFrame], _ wire: MapLayout.Wire, width: Double) -> FaultPlace {
        var start = self
        (start.x, start.y) = (wire.x1 + 6 + width / 2, wire.y1 + Self.halfHeight - Self.clearance)
        let lower = (1...4).map { step in
            var place = start
            place.y += Double(step) * 2 * Self.halfHeight
            return place
        }
        return ([self, start] + lower).first { place in !taken.contains { $0.meets(place.frame(width)) } } ?? self
    }

    func frame(_ width: Double) -> TextFrame {
        TextFrame(x: x - width / 2, y: y - Self.halfHeight, width: width, height: 2 * Self.halfHeight)
    }
}
