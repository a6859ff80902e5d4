// The entry point of all tests. Without this file SwiftPM looks for XCTest's tests in an index of the whole package, and writing
// that index takes a seventh of a build.
import Testing

await Testing.__swiftPMEntryPoint() as Never
