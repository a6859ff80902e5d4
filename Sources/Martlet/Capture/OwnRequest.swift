#if os(Linux)
import Foundation
import FoundationNetworking

/// The mark on the agent's own uploads. It travels with the request and is not sent; capture passes marked requests by.
enum OwnRequest {
    private static let key = "martlet.own"

    static func marked(_ request: URLRequest) -> URLRequest {
        guard let copy = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
        URLProtocol.setProperty(true, forKey: key, in: copy)
        return copy as URLRequest
    }

    static func isMarked(_ request: URLRequest) -> Bool {
        URLProtocol.property(forKey: key, in: request) != nil
    }
}
#endif
