module libarmci

go 1.26.0

require (
	github.com/ianlancetaylor/cgosymbolizer v0.0.0-20260504013507-f4b012c11129
	github.com/yuin/goldmark v1.8.7
	golang.org/x/sys v0.49.0
)
