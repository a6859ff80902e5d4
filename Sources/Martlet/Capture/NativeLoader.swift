#if os(Linux)
import Foundation
import FoundationNetworking

/// `URLSession`'s own HTTP loader on Linux. It loads requests in both modes, and Martlet stands between it and its client.
enum NativeLoader {
    /// The loader's class; `nil` where Foundation has no class of this name.
    static let type = NSClassFromString("FoundationNetworking._HTTPURLProtocol") as? URLProtocol.Type
}
#endif
