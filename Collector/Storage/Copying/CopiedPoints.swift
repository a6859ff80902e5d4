import MartletPoints
import MartletTelemetry

/// Points that one row of a store has.
package struct CopiedPoints: Sendable {
    /// The row's number, which no other row of the store has.
    package var number: Int64
    package var resource: TelemetryResource
    package var points: [RequestPoint]

    package init(number: Int64, resource: TelemetryResource, points: [RequestPoint]) {
        self.number = number
        self.resource = resource
        self.points = points
    }
}
