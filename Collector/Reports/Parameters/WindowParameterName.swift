/// The names of a command's flags with a window of time among them.
package protocol WindowParameterName: ParameterName {
    static var since: Self { get }
    static var until: Self { get }
}

extension WindowParameterName {
    package static var defaultSince: String { "1h" }
}
