import { isAllowed } from '@postern/render/haproxy-lists'
import { FLAGS } from '@postern/render/haproxy-routes'
import type { ResolvedRoute } from '@postern/render/resolved-route'
import type { MapChange } from './haproxy-maps.ts'
import { endStreams, listStreams, type OpenStream } from './haproxy-sessions.ts'
import type { HaproxySocket } from './haproxy-socket.ts'

interface Routes {
  lines: MapChange['lines']
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
  const suspects = isThorough ? null : changedServices(routes.lines)
  if (suspects?.size === 0) return true
  const open = openRoutes(routes)
  const isUnwanted = ({ service, source }: OpenStream) => {
    const route = open.get(service)
    return !route || !isAllowed(route, source)
  }
  const streams = await listStreams(socket, suspects)
  return await endStreams(socket, streams.filter(isUnwanted))
}

/** Whether somebody may be connected now who must not be after the change. */
export function takesAway(routes: Routes): boolean {
  const suspects = changedServices(routes.lines)
  if (suspects.size === 0) return false
  const open = openRoutes(routes)
  return [...suspects].some((service) => {
    const route = open.get(service)
    return !route || route.allowedIps.length > 0 || route.blockedIps.length > 0
  })
}

function openRoutes({ wanted }: Routes): Map<number, ResolvedRoute> {
  return new Map(wanted.filter(({ enabled }) => enabled).map((route) => [route.id, route]))
}

/** Services that lose a line, are disabled or get another list. */
function changedServices(lines: MapChange['lines']): Set<number> {
  const changed = new Set<number>()
  for (const { before, after } of lines.values()) {
    if (before === undefined) continue
    const [was, is] = [parseLine(before), parseLine(after ?? '')]
    if (was.id !== is.id || was.list !== is.list || (is.isDisabled && !was.isDisabled)) changed.add(was.id)
  }
  return changed
}

/** What a line of the map of routes says. */
export function parseLine(value: string): { id: number; list: string; isDisabled: boolean } {
  const [id, , , , flags = '', list = ''] = value.split('|')
  return { id: Number(id), list, isDisabled: flags.includes(FLAGS.disabled) }
}
