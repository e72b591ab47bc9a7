#if Services
    extension String {
        /// Its first characters, as many as are so many bytes at most, and an ellipsis where there are more.
        func cut(toBytes limit: Int) -> String {
            var sizeBytes = 0
            let kept = prefix { character in
                sizeBytes += character.utf8.count
                return sizeBytes <= limit
            }
            return kept.endIndex == endIndex ? self : String(kept) + "…"
        }
    }
#endif
