import type { endpoints } from '@postern/contract/endpoints/endpoints'

/** Who may call what. It does not come from the contract, so that a slip there is seen here. */
export const AUDIENCES = {
  ...rows('everybody', 'health', 'login', 'loginByCode', 'beginPasskeyLogin', 'loginByPasskey'),
  ...rows('everybody', 'readInvite', 'acceptInvite', 'beginDevice', 'pollDevice'),
  ...rows('everybody', 'edgeJoin'),
  ...rows('everybody', 'getSignInWays', 'beginProviderLogin', 'loginByProvider'),
  ...rows('a node', 'agentConfig', 'registerKey', 'publishServices', 'reportNode', 'agentWhy', 'agentSocket'),
  ...rows('an edge', 'edgeState', 'edgeWhy', 'edgeSocket', 'edgeCertificate'),
  ...rows('a person', 'logout', 'listApiTokens', 'createApiToken', 'revokeApiToken', 'deleteApiToken'),
  ...rows('a person', 'readDevice', 'approveDevice', 'denyDevice'),
  ...rows('a person', 'getFactors', 'beginAuthenticator', 'confirmAuthenticator', 'removeAuthenticator'),
  ...rows('a person', 'beginPasskey', 'addPasskey', 'renamePasskey', 'removePasskey', 'makeRecoveryCodes'),
  ...rows(
    'a person',
    'updateAccount',
    'changePassword',
    'confirmAccount',
    'listSessions',
    'endSession',
    'endOtherSessions',
  ),
  ...rows('a person', 'listIdentities', 'beginIdentity', 'addIdentity', 'removeIdentity'),
  ...rows('a person or node', 'config'),
  ...rows('who looks in person', 'ticket', 'getTrial'),
  ...rows('who looks', 'me', 'find', 'streamHints', 'getOverview', 'listAttention', 'listEdges'),
  ...rows('who looks', 'checkPublicHost', 'checkProvider', 'beginWhy', 'getWhy'),
  ...rows('who looks', 'listNodes', 'getNode', 'streamNodes', 'listTokens'),
  ...rows('who looks', 'listDomains', 'listEndingCertificates', 'getRoot', 'getDomain', 'listSignIns'),
  ...rows('who looks', 'listAllServices', 'listServices', 'listNodeServices', 'getService', 'streamLogs'),
  ...rows('who looks', 'listRequests', 'streamRequests', 'exportRequests'),
  ...rows('who looks', 'listHistory', 'getChange', 'exportHistory', 'listPendingChanges'),
  ...rows('who edits', 'undoChange', 'keepChange'),
  ...rows('who looks', 'serviceFigures', 'nodeFigures', 'domainFigures', 'allFigures'),
  ...rows('who looks', 'serviceTraffic', 'nodeTraffic', 'domainTraffic'),
  ...rows('who looks at all', 'edgeFigures', 'edgeTraffic', 'listAlerts', 'listDeliveries', 'listChannels'),
  ...rows('who looks at all', 'getChannel', 'listAlertRules', 'getAlertRule', 'getQuietHours'),
  ...rows('who edits', 'updateNode', 'deleteNode', 'enableNode', 'disableNode', 'muteNode', 'unmuteNode'),
  ...rows('who edits', 'downloadNode', 'changeNodes', 'createToken', 'rotateToken', 'revokeToken'),
  ...rows('who edits', 'deleteToken', 'changeTokens', 'updateDomain', 'deleteDomain', 'endSessions'),
  ...rows('who edits', 'retryCertificate', 'changeDomains', 'enableService', 'disableService'),
  ...rows('who edits', 'muteService', 'unmuteService', 'deleteService', 'changeServices'),
  ...rows('who edits', 'createHttpService', 'updateHttpService', 'createTcpService', 'updateTcpService'),
  ...rows('who edits all', 'createNode', 'createDomain'),
  ...rows('an admin', 'getSettings', 'updateSettings', 'getBackups', 'makeBackup'),
  ...rows('an admin in person', 'beginTrial', 'removeFactors', 'listPeople', 'getPerson', 'invitePerson'),
  ...rows('an admin in person', 'updatePerson', 'renewInvite', 'disablePerson', 'enablePerson'),
  ...rows(
    'an admin in person',
    'endPersonSessions',
    'endPersonTokens',
    'disconnectPerson',
    'deletePerson',
    'getConsoleSignIn',
    'setPasswordRule',
  ),
  ...rows('an admin in person', 'createConsoleProvider', 'updateConsoleProvider', 'deleteConsoleProvider'),
  ...rows('an admin in person', 'tryConsoleProvider', 'previewRules'),
  ...rows('an admin', 'drainEdge', 'undrainEdge', 'getEdgeInstaller'),
  ...rows('an admin in person', 'addEdge', 'editEdge', 'makeJoinToken', 'removeEdge'),
  ...rows('an admin', 'createChannel', 'updateChannel', 'deleteChannel', 'testChannel', 'updateBuiltInRule'),
  ...rows('an admin', 'createFigureRule', 'updateFigureRule', 'deleteFigureRule', 'setQuietHours'),
} satisfies Record<keyof typeof endpoints, Audience>

type Audience = keyof typeof MAY

export const PEOPLE = ['admin', 'editor', 'viewer', 'limited editor', 'limited viewer'] as const
/** API tokens of the first administrator: with all rights, and with an editor's for some records. */
export const PROGRAMS = ['program', 'limited program'] as const
export const CALLERS = [...PEOPLE, ...PROGRAMS, 'node', 'edge', 'nobody'] as const
export type Caller = (typeof CALLERS)[number]

export const MAY = {
  everybody: CALLERS,
  'a node': ['node'],
  'an edge': ['edge'],
  'a person': PEOPLE,
  'a person or node': [...PEOPLE, ...PROGRAMS, 'node'],
  'who looks in person': PEOPLE,
  'who looks': [...PEOPLE, ...PROGRAMS],
  'who looks at all': ['admin', 'editor', 'viewer', 'program'],
  'who edits': ['admin', 'editor', 'program', 'limited program', 'limited editor'],
  'who edits all': ['admin', 'editor', 'program'],
  'an admin in person': ['admin'],
  'an admin': ['admin', 'program'],
} satisfies Record<string, readonly Caller[]>

function rows<A extends string, N extends string>(audience: A, ...names: N[]): Record<N, A> {
  return Object.fromEntries(names.map((name) => [name, audience])) as Record<N, A>
}
