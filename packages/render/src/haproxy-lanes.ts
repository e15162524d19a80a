import type { HaproxyOptions } from './haproxy-options.ts'

/** A way from one part of HAProxy to the next, through a socket that only HAProxy reaches. */
export type Lane = 'h1' | 'h2' | 'once' | 'grpc' | 'drain'

/**
 * Where the next part listens. HAProxy binds it before it becomes another user, and by that user's group: its unit does
 * not let root change what is another's already.
 */
export function laneBind(options: HaproxyOptions, lane: Lane): string {
  const access = options.user === null ? 'mode 600' : `mode 660 gid ${options.user.gid}`
  return `unix@${options.lanes}/${lane}.sock ${access} accept-proxy`
}

/** What the part before dials. It tells who the visitor is, and in the unique id what it knows of the request. */
export function laneServer(options: HaproxyOptions, lane: Lane): string {
  return `${socketInside(options, `${options.lanes}/${lane}.sock`)} send-proxy-v2 proxy-v2-options unique-id`
}

/** A socket as HAProxy dials it, from within its chroot when it has one. */
export function socketInside({ root, user }: HaproxyOptions, path: string): string {
  return `unix@${user === null ? path : path.slice(root.length)}`
}
