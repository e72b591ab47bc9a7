// Written by `make blocks`: do not edit.
// swift-format-ignore-file

/// The code blocks of the documents. Those that watch end when they are cancelled.
enum Blocks {
    nonisolated static let all: [(name: String, isWatching: Bool, run: @Sendable (String) async throws -> Void)] = [
        ("api-batches", false, { try await Blocks.api_batches(home: $0) }),
        ("api-care", false, { try await Blocks.api_care(home: $0) }),
        ("api-dictionaries", false, { try await Blocks.api_dictionaries(home: $0) }),
        ("api-following", false, { try await Blocks.api_following(home: $0) }),
        ("api-keyed-dictionaries", false, { try await Blocks.api_keyed_dictionaries(home: $0) }),
        ("api-live", true, { try await Blocks.api_live(home: $0) }),
        ("api-objects-changes", false, { try await Blocks.api_objects_changes(home: $0) }),
        ("api-objects-indexes", false, { try await Blocks.api_objects_indexes(home: $0) }),
        ("api-objects-queries", false, { try await Blocks.api_objects_queries(home: $0) }),
        ("api-opening", false, { try await Blocks.api_opening(home: $0) }),
        ("api-opening-at-once", false, { try await Blocks.api_opening_at_once(home: $0) }),
        ("api-opening-others", false, { try await Blocks.api_opening_others(home: $0) }),
        ("api-opening-tuned", false, { try await Blocks.api_opening_tuned(home: $0) }),
        ("api-properties", false, { try await Blocks.api_properties(home: $0) }),
        ("api-read-views", false, { try await Blocks.api_read_views(home: $0) }),
        ("api-read-views-held", false, { try await Blocks.api_read_views_held(home: $0) }),
        ("api-repositories", false, { try await Blocks.api_repositories(home: $0) }),
        ("api-scans", false, { try await Blocks.api_scans(home: $0) }),
        ("api-shared", false, { try await Blocks.api_shared(home: $0) }),
        ("api-transactions", false, { try await Blocks.api_transactions(home: $0) }),
        ("api-typed-keys", false, { try await Blocks.api_typed_keys(home: $0) }),
        ("api-watching", true, { try await Blocks.api_watching(home: $0) }),
    ]
}
