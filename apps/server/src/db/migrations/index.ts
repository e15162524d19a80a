import { initial } from './0001-initial.ts'
import { boundSessions } from './0002-bound-sessions.ts'
import { revisions } from './0003-revisions.ts'
import { ports } from './0004-ports.ts'
import { listsOfANode } from './0005-lists-of-a-node.ts'
import { orders } from './0006-orders.ts'
import { signIn } from './0007-sign-in.ts'
import { signIns } from './0008-sign-ins.ts'
import { endsOfCertificates } from './0009-ends-of-certificates.ts'
import { namesOfChanges } from './0010-names-of-changes.ts'
import { signedOut } from './0011-signed-out.ts'
import { publications } from './0012-publications.ts'
import { agentDomains } from './0013-agent-domains.ts'
import { tokensOfKeys } from './0014-tokens-of-keys.ts'
import { sharesOfAgents } from './0015-shares-of-agents.ts'
import { countsOfServices } from './0016-counts-of-services.ts'
import { tokensOfPublications } from './0017-tokens-of-publications.ts'
import { freedDomains } from './0018-freed-domains.ts'
import { rotatedTokens } from './0019-rotated-tokens.ts'
import { usedNames } from './0020-used-names.ts'
import { alerts } from './0022-alerts.ts'
import { people } from './0023-people.ts'
import { invites } from './0024-invites.ts'
import { secondFactors } from './0025-second-factors.ts'
import { history } from './0026-history.ts'
import { pendingChanges } from './0027-pending-changes.ts'
import { apiTokens } from './0028-api-tokens.ts'
import { endsOfServices } from './0029-ends-of-services.ts'
import { consoleProviders } from './0030-console-providers.ts'
import { sharesOfHistory } from './0031-shares-of-history.ts'
import { usedTickets } from './0032-used-tickets.ts'
import { edgesElsewhere } from './0033-edges-elsewhere.ts'
import { fileEdges } from './0034-file-edges.ts'
import { counts } from './live-0002-counts.ts'

/** In order; a released migration is never edited. The database counts how many of them it has. */
export const MIGRATIONS: readonly string[] = [
  initial,
  boundSessions,
  revisions,
  ports,
  listsOfANode,
  orders,
  signIn,
  signIns,
  endsOfCertificates,
  namesOfChanges,
  signedOut,
  publications,
  agentDomains,
  tokensOfKeys,
  sharesOfAgents,
  countsOfServices,
  tokensOfPublications,
  freedDomains,
  rotatedTokens,
  usedNames,
  'ALTER TABLE services ADD COLUMN strip_path INTEGER NOT NULL DEFAULT 0 CHECK (strip_path IN (0, 1));',
  // The list of all services, by name.
  'CREATE INDEX services_named ON services (name_folded, id) WHERE system = 0;',
  alerts,
  `ALTER TABLE alert_rules ADD COLUMN domain_id INTEGER REFERENCES domains (id) ON DELETE CASCADE;
  ALTER TABLE alert_rules ADD COLUMN edge_id INTEGER REFERENCES edges (id) ON DELETE CASCADE;
  CREATE INDEX alert_rules_of_domains ON alert_rules (domain_id);`,
  people,
  invites,
  secondFactors,
  apiTokens,
  endsOfServices,
  history,
  pendingChanges,
  consoleProviders,
  sharesOfHistory,
  // What an account is outlives the provider that made it, and a passkey is no way around its rules.
  `ALTER TABLE users ADD COLUMN is_made INTEGER NOT NULL DEFAULT 0 CHECK (is_made IN (0, 1));
  UPDATE users SET is_made = 1 WHERE id IN (SELECT user_id FROM user_identities WHERE is_made_by_sign_in = 1);
  DELETE FROM sessions WHERE provider_id IS NULL AND user_id IN (SELECT id FROM users WHERE is_made = 1);`,
  usedTickets,
  'ALTER TABLE revisions ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;',
  edgesElsewhere,
  fileEdges,
]

export const LIVE_MIGRATIONS: readonly string[] = [
  `CREATE TABLE figures (
    node_id INTEGER PRIMARY KEY,
    latest_handshake INTEGER,
    rx INTEGER NOT NULL,
    tx INTEGER NOT NULL,
    client_ip TEXT,
    reachable INTEGER NOT NULL
  ) STRICT;`,
  counts,
  'CREATE TABLE token_uses (token_id INTEGER PRIMARY KEY, used_at INTEGER NOT NULL) STRICT;',
  'ALTER TABLE token_uses ADD COLUMN used_from TEXT;',
  'ALTER TABLE counts ADD COLUMN answers TEXT;',
  'CREATE TABLE api_token_uses (token_id INTEGER PRIMARY KEY, used_at INTEGER NOT NULL, used_from TEXT) STRICT;',
]
