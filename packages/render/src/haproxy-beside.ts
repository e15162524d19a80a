import { FLAGS } from './haproxy-routes.ts'

/**
 * What a browser keeps for the whole host when one answer says it: reports to strangers, rules for later requests,
 * other servers, workers, cookies.
 */
const LASTING = [
  'nel',
  'report-to',
  'reporting-endpoints',
  'strict-transport-security',
  'public-key-pins(-report-only)?',
  'expect-ct',
  'alt-svc',
  'alternate-protocol',
  'service-worker-allowed',
  'clear-site-data',
  'accept-ch(-lifetime)?',
  'critical-ch',
  'origin-agent-cluster',
  'set-login',
  'use-as-dictionary',
  'speculation-rules',
  'sec(ure)?-session-[a-z-]+',
  'activate-storage-access',
  'set-cookie2?',
]

const SANDBOX = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts'

/**
 * A service at a host of the console runs in an origin of its own, so that it cannot act as the console, and what it
 * answers ends with the answer.
 */
export function renderBeside(): string {
  const isBeside = `{ var(txn.flags) -m sub ${FLAGS.beside} }`
  return `  http-response add-header Content-Security-Policy "${SANDBOX}" if ${isBeside}
  http-response del-header ^(${LASTING.join('|')})$ -m reg if ${isBeside}`
}
