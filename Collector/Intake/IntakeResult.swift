/// The values that were taken from a request's body, and the refusals.
package struct IntakeResult<Value: Sendable>: Sendable {
    package var values: [Value]
    package var refusals: Refusals

    /// The number of data points that are not needed, and not a mistake: they are not about HTTP requests, or repeat a
    /// metric under its earlier name.
    package var ignored: Int { refusals.ignored }
}

extension IntakeResult: Equatable where Value: Equatable {}
