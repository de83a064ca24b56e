import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { peer } from './peers.ts'
import { tempDir } from './temp-dir.ts'

const program = `package main

import (
	"archive/tar"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	root := os.Args[1]
	out, err := os.Create(os.Args[2])
	check(err)
	archive := tar.NewWriter(out)
	check(filepath.Walk(root, func(path string, info fs.FileInfo, err error) error {
		check(err)
		if info.IsDir() {
			return nil
		}
		header, err := tar.FileInfoHeader(info, "")
		check(err)
		header.Name, err = filepath.Rel(root, path)
		check(err)
		check(archive.WriteHeader(header))
		content, err := os.Open(path)
		check(err)
		_, err = io.Copy(archive, content)
		check(err)
		return content.Close()
	}))
	check(archive.Close())
	check(out.Close())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`

/**
 * Writes the files below `root` into a tar as oc-mirror does, with the tar writer that it uses: that of Go's library.
 *
 * False after the test was marked as skipped because there is no Go.
 */
export async function goTar(t: Pick<TestContext, 'after' | 'skip'>, root: string, archive: string): Promise<boolean> {
  const go = peer(t, 'go')
  if (go === undefined) return false
  const source = join(await tempDir(t), 'main.go')
  await writeFile(source, program)
  await promisify(execFile)(go, ['run', source, root, archive], {
    env: { ...process.env, GOFLAGS: '', GOTOOLCHAIN: 'local' },
  })
  return true
}
