/// The version of agent and collector: of the command, the packages, the telemetry and the User-Agent. `docs/install.md` says what
/// the numbers promise. `scripts/check-sources.sh` finds other places that name a version.
package enum MartletVersion {
    package static let current = "0.1.0"
}
