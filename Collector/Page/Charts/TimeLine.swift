import MartletStorage

/// A figure over time as a line, with gaps where it is not known. Lines differ by their dashes, and are named at their ends.
struct TimeLine: Sendable {
    /// The class.
    let name: String
    let label: String
    let dash: String?
    /// One for each slot.
    let figures: [Double?]

    var isEmpty: Bool { figures.allSatisfy { $0 == nil } }

    var key: ChartPanel.Key { .line(name, label, dash: dash) }

    /// The name at the line's end; `nil` for a line without points.
    func end(_ scale: ValueScale) -> Plot.End? {
        figures.last { $0 != nil }?.map { Plot.End(label: label, y: scale.y($0)) }
    }

    /// - Parameters:
    ///   - slots: the time of each figure.
    ///   - height: the height of the chart's area, in pixels.
    func html(_ slots: [TimeWindow], _ axis: TimeAxis, _ scale: ValueScale, height: Double) -> HTML {
        HTML.joined(runs(slots, axis, scale).map { stretch($0, height: height) })
    }

    /// A stretch of slots that all have figures, in a picture that is stretched to the width. A single slot is a short line.
    private func stretch(_ points: [(x: Double, y: Double)], height: Double) -> HTML {
        let lone = points.count == 1 ? [(points[0].x + 0.8, points[0].y)] : []
        return element(
            "svg", Attribute("width", "100%"), Attribute("height", SVG.number(height)),
            Attribute("viewBox", "0 0 100 \(SVG.number(height))"), Attribute("preserveAspectRatio", "none")
        ) { SVG.line(points + lone, class: name, dash: dash, width: "2") }
    }

    /// The points of each stretch of slots with figures, at the middle of their slots.
    private func runs(
        _ slots: [TimeWindow], _ axis: TimeAxis, _ scale: ValueScale
    ) -> [[(x: Double, y: Double)]] {
        var runs: [[(x: Double, y: Double)]] = [[]]
        for (slot, figure) in zip(slots, figures) {
            if let figure {
                runs[runs.count - 1].append((100 * (axis.x(slot.from) + axis.x(slot.to)) / 2, scale.y(figure)))
            } else if runs.last?.isEmpty == false {
                runs.append([])
            }
        }
        return runs.filter { !$0.isEmpty }
    }
}
