import { isAllowed } from '@postern/render/haproxy-lists'
import { FLAGS } from '@postern/render/haproxy-routes'
import type { ResolvedRoute } from '@postern/render/resolved-route'
import { endStreams, listStreams, type OpenStream } from './haproxy-sessions.ts'
import type { HaproxySocket } from './haproxy-socket.ts'

interface Routes {
  /** What was in force, and what is. */
  before: ReadonlyMap<string, string>
  after: ReadonlyMap<string, string>
  wanted: readonly ResolvedRoute[]
}

/**
 * Ends the open connections of services that are disabled or gone, and of visitors whom a list no longer lets in;
 * never one of another service.
 * @param isThorough looks at every stream, not only at services that changed: for what an edge before us left undone.
 * @returns whether all have ended
 */
export async function endUnwanted(
  socket: HaproxySocket,
  routes: Routes,
  isThorough: boolean,
): Promise<boolean> {
  const suspects = isThorough ? null : changedServices(routes)
  if (suspects?.size === 0) return true
  const open = new Map(routes.wanted.filter(({ enabled }) => enabled).map((route) => [route.id, route]))
  const isUnwanted = ({ service, source }: OpenStream) => {
    const route = open.get(service)
    return !route || !isAllowed(route, source)
  }
  const streams = await listStreams(socket, suspects)
  return await endStreams(socket, streams.filter(isUnwanted))
}

/** Services that lost a line, were disabled or have another list. */
function changedServices({ before, after }: Routes): Set<number> {
  const changed = new Set<number>()
  for (const [key, old] of before) {
    const value = after.get(key)
    if (value === old) continue
    const [was, is] = [parse(old), parse(value ?? '')]
    if (was.id !== is.id || was.list !== is.list || (is.isDisabled && !was.isDisabled)) changed.add(was.id)
  }
  return changed
}

function parse(value: string): { id: number; list: string; isDisabled: boolean } {
  const [id, , , , flags = '', list = ''] = value.split('|')
  return { id: Number(id), list, isDisabled: flags.includes(FLAGS.disabled) }
}
