/// The middle of the text about an edge's faults. It lies on the line, clear of the counts at the ends.
struct FaultPlace {
    /// Half the height of the text's frame, in pixels.
    static let halfHeight = 12.0
    /// The height from a line to the counts beside it, which stand above a line that rises and below one that falls.
    private static let clearance = 3.0
    /// A line that rises or falls by more leads away from the counts.
    private static let steep = 60.0

    let x: Double
    let y: Double

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
            // On the other side of the line than the counts.
            let side = wire.y2 > wire.y1 ? -1.0 : 1
            (x, y) = (middle.x, wire.y1 + side * (Self.halfHeight - Self.clearance))
        }
    }
}
