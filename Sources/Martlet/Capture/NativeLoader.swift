#if os(Linux)
import Foundation
import FoundationNetworking

/// `URLSession`'s own HTTP loader on Linux. It keeps loading in both modes; Martlet stands between it and its client.
enum NativeLoader {
    /// `nil` where Foundation is built otherwise than it was when this was written.
    static let type = NSClassFromString("FoundationNetworking._HTTPURLProtocol") as? URLProtocol.Type
}
#endif
