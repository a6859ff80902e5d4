import HTTPTypes
import Hummingbird

extension RouterMethods {
    /// Answers every method that a path does not have with 405, and names those that it has (RFC 9110, section 15.5.6).
    ///
    /// - Parameters:
    ///   - methods: those of the path; HEAD goes with GET.
    ///   - answer: returns the body from a sentence for people. Its status is replaced.
    func refuseOtherMethods(
        at path: RouterPath, than methods: [HTTPRequest.Method] = [.get],
        _ answer: @escaping @Sendable (String) throws -> Response = { try Response.json(Problem(error: $0)) }
    ) {
        let allowed = methods.flatMap { $0 == .get ? [.get, .head] : [$0] }
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        for method in knownMethods where !allowed.contains(method) {
            on(path, method: method) { _, _ in
                var response = try answer("the methods of this path are \(names)")
                response.status = .methodNotAllowed
                response.headers[.allow] = names
                return response
            }
        }
    }
}

private let knownMethods: [HTTPRequest.Method] =
    [.get, .head, .post, .put, .patch, .delete, .options, .trace]
    + [HTTPRequest.Method(rawValue: "QUERY")].compactMap(\.self)
