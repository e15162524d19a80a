import { join } from 'node:path'
import { HAPROXY_PLACE } from '@postern/host/haproxy-place'
import { openApt } from '../bootstrap/haproxy/apt.mjs'
import { assembleHaproxy, digestOf, PACKAGED, PACKAGES } from '../bootstrap/haproxy/assemble.mjs'
import { ROOT } from '../lib/environment.ts'
import type { Stage } from './deb.ts'

/**
 * Fills the HAProxy package, for releases whose own is too old, with the newest of Debian 13. It is the only package
 * that the same sources do not reproduce byte by byte: it contains Debian's current files.
 */
export async function fillHaproxyPackage({ dir }: Stage): Promise<void> {
  const cache = join(ROOT, '.postern/haproxy-package')
  const apt = await openApt('trixie', cache)
  await apt.update()
  // Other contents get another folder, so that the edge notices an upgrade.
  const place = join(HAPROXY_PLACE, 'haproxy', `${PACKAGED}-${digestOf(await apt.list(PACKAGES))}`)
  const archives = await apt.download(PACKAGES)
  await assembleHaproxy(archives, { folder: join(dir, place), place, work: join(cache, 'unpacked') })
  apt.forgetFiles()
}
