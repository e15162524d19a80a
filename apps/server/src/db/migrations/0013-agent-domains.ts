/** Domains that a person gives to the agent of a node: string[]. */
export const agentDomains = `
ALTER TABLE nodes ADD COLUMN agent_domains TEXT NOT NULL DEFAULT '[]';
`
