import Foundation

/// The class of delegates that the agent's own uploads have: capture leaves these tasks alone.
class OwnUploadDelegate: NSObject {}
