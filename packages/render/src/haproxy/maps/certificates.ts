import type { EdgeCertificate } from '@postern/contract/edge/desired-state'
import type { HaproxyPaths } from '../options.ts'

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]+)-----END \1-----/g

/**
 * The chain and its key in one text. Only what is PEM gets into it: a blank line or a NUL would end the payload on
 * HAProxy's socket.
 */
export function renderPem(certificate: EdgeCertificate): string {
  const blocks = `${certificate.chain}\n${certificate.privateKey}`.matchAll(BLOCK)
  return [...blocks].map(([, label = '', body = '']) => renderBlock(label, body)).join('')
}

function renderBlock(label: string, body: string): string {
  const lines = body.split(/\s+/).filter((line) => line !== '')
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** One line of the list: the file and the names it is for. The installation's own certificate is not in it. */
export function renderCertificateLine(certificate: EdgeCertificate, paths: HaproxyPaths): string {
  const names = certificate.domains.filter((name) => /^[a-z0-9.-]{1,253}$/.test(name))
  return [paths.certificate(certificate.id), ...names].join(' ')
}

export function renderCertificateList(certificates: readonly EdgeCertificate[], paths: HaproxyPaths): string {
  return listed(certificates)
    .map((certificate) => `${renderCertificateLine(certificate, paths)}\n`)
    .join('')
}

/** A line without names would answer for every name its certificate holds. */
export function listed(certificates: readonly EdgeCertificate[]): EdgeCertificate[] {
  return certificates.filter(({ id, domains }) => id !== 0 && domains.length > 0)
}
