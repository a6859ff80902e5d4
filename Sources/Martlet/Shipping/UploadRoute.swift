import Foundation
import MartletTelemetry

/// One signal on its way to one address. A failure holds back a route, and a success lets it through again.
struct UploadRoute: Hashable {
    let address: URL
    let signal: Signal
}
