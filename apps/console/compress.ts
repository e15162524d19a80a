import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

/** Fonts are compressed already, and the one page is smaller than a packet. */
const COMPRESSIBLE = /\.(js|css|svg)$/

const ENCODERS = {
  br: promisify(brotliCompress),
  gz: (content: Buffer) => promisify(gzip)(content, { level: 9 }),
}

/** Writes `x.br` and `x.gz` beside each asset, because the server compresses nothing itself. */
export function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const files = await readdir(dir, { recursive: true })
      for (const file of files.filter((name) => COMPRESSIBLE.test(name))) {
        const content = await readFile(join(dir, file))
        for (const [suffix, encode] of Object.entries(ENCODERS))
          await writeFile(join(dir, `${file}.${suffix}`), await encode(content))
      }
    },
  }
}
