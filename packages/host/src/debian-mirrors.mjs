import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The mirrors from which this machine takes its Debian packages; undefined when it names none.
 * @returns {{ debian: string, security?: string } | undefined}
 */
export function findDebianMirrors(etc = '/etc/apt') {
  const folder = join(etc, 'sources.list.d')
  const parts = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  const text = [join(etc, 'sources.list'), ...parts]
    .filter((file) => /\.(list|sources)$/.test(file) && existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const addresses = [...text.matchAll(/^(?:deb(?: \[.*?\])?|URIs:) +(\S+)/gm)].map(
    ([, address = '']) => address,
  )
  const debian = addresses.find((address) => /\/debian\/?$/.test(address))
  const security = addresses.find((address) => /\/debian-security\/?$/.test(address))
  return debian === undefined ? undefined : { debian, ...(security ? { security } : {}) }
}
