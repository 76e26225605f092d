/** Made by `npm run openapi` from controlplane/openapi.json, which comes from the routes. Do not edit. */

export interface paths {
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the agents of a project
         * @description Role: viewer or higher.
         */
        get: operations["listAgents"];
        put?: never;
        /**
         * Create an agent
         * @description Role: admin or owner.
         */
        post: operations["createAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an agent with its limits
         * @description Role: viewer or higher.
         */
        get: operations["getAgent"];
        put?: never;
        post?: never;
        /**
         * Delete an agent with its keys and provider accounts
         * @description Role: admin or owner.
         */
        delete: operations["deleteAgent"];
        options?: never;
        head?: never;
        /**
         * Change the name, limits, budget or policy of an agent
         * @description Role: member or higher.
         */
        patch: operations["updateAgent"];
        trace?: never;
    };
    "/v1/agents/{id}/call-check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check whether a call of an agent would pass its policy
         * @description Role: viewer or higher.
         */
        post: operations["checkCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Pause, resume or revoke an agent
         * @description Role: admin or owner.
         */
        patch: operations["setAgentStatus"];
        trace?: never;
    };
    "/v1/alert-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alert rules with their last evaluation, newest first
         * @description Role: viewer or higher.
         */
        get: operations["listAlertRules"];
        put?: never;
        /**
         * Create an alert rule
         * @description Role: member or higher.
         */
        post: operations["createAlertRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alert-rules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an alert rule
         * @description Role: viewer or higher.
         */
        get: operations["getAlertRule"];
        put?: never;
        post?: never;
        /**
         * Delete an alert rule and its alerts
         * @description Role: member or higher.
         */
        delete: operations["deleteAlertRule"];
        options?: never;
        head?: never;
        /**
         * Change, disable or silence an alert rule
         * @description Role: member or higher.
         */
        patch: operations["updateAlertRule"];
        trace?: never;
    };
    "/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alerts of alert rules, newest first
         * @description Role: viewer or higher.
         */
        get: operations["listAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge an open alert
         * @description Role: member or higher.
         */
        post: operations["acknowledgeAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/{id}/silence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Silence the rule of an alert until a time
         * @description Role: member or higher.
         */
        post: operations["silenceAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Role: viewer or higher.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key; its gateway token is returned only once
         * @description Role: admin or owner.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an API key, also a revoked one
         * @description Role: viewer or higher.
         */
        get: operations["getApiKey"];
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description Role: admin or owner.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        /**
         * Rename an API key or change its expiry
         * @description Role: admin or owner.
         */
        patch: operations["updateApiKey"];
        trace?: never;
    };
    "/v1/api-keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key; the old one stays valid for a grace period
         * @description Role: admin or owner.
         */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the days of the ledger that are in the archive
         * @description Role: viewer or higher.
         */
        get: operations["listArchivedDays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/archive/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read an archived day back and compare it with its manifest
         * @description Role: admin or owner.
         */
        post: operations["verifyArchivedDay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what needs action: budgets, credentials, keys, webhooks, circuits
         * @description Role: viewer or higher.
         */
        get: operations["listAttention"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the entries of the audit trail, newest first
         * @description Role: admin or owner.
         */
        get: operations["listAuditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/change-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the password and revoke all other sessions
         * @description Any session, whatever the role.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/device": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a device login
         * @description No session needed.
         */
        post: operations["startDeviceLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/device/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a device login
         * @description Any session, whatever the role.
         */
        post: operations["approveDevice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/device/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deny a device login
         * @description Any session, whatever the role.
         */
        post: operations["denyDevice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/device/lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Look up a device login by its user code
         * @description Any session, whatever the role.
         */
        post: operations["lookUpDevice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/device/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Poll a device login for its session
         * @description Returns the session after the user has approved it. Until then 400 with the error authorization_pending, slow_down, access_denied or expired_token. No session needed.
         */
        post: operations["pollDeviceLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/forgot-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail a link to set a new password
         * @description No session needed.
         */
        post: operations["forgotPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in with e-mail and password
         * @description No session needed.
         */
        post: operations["logIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log out: revoke the session of this call
         * @description Any session, whatever the role.
         */
        post: operations["logOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a session token for a new one
         * @description No session needed.
         */
        post: operations["refreshSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/resend-verification": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend the verification e-mail
         * @description No session needed.
         */
        post: operations["resendVerification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/reset-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password with the token from a mail
         * @description No session needed.
         */
        post: operations["resetPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an account and its organization
         * @description No session needed.
         */
        post: operations["signUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/switch-org": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a token for another organization
         * @description Any session, whatever the role.
         */
        post: operations["switchOrganization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/verify-email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm an e-mail address with the token from a mail
         * @description No session needed.
         */
        post: operations["verifyEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare a month of the ledger with the reports of the providers
         * @description Role: viewer or higher.
         */
        get: operations["getBillingReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store an admin key with which the gateway reads reports
         * @description Role: admin or owner.
         */
        post: operations["createBillingAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a billing account with its lines and adjustments
         * @description Role: admin or owner.
         */
        delete: operations["deleteBillingAccount"];
        options?: never;
        head?: never;
        /**
         * Change the name, admin key or threshold of a billing account
         * @description Role: admin or owner.
         */
        patch: operations["updateBillingAccount"];
        trace?: never;
    };
    "/v1/billing/accounts/{id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the provider’s reports of a month now
         * @description Role: admin or owner.
         */
        post: operations["checkBillingAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/accounts/{id}/lines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List differences by day, hour, key or model
         * @description Role: viewer or higher.
         */
        get: operations["listBillingLines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/adjustments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept a difference of a month, with a reason
         * @description Role: admin or owner.
         */
        post: operations["createBillingAdjustment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/circuits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the circuit breakers of the organization’s providers
         * @description Role: viewer or higher.
         */
        get: operations["listCircuits"];
        /**
         * Close a circuit breaker of the organization, or hold it open for at most a day
         * @description Role: admin or owner.
         */
        put: operations["overrideCircuit"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the public configuration
         * @description No session needed.
         */
        get: operations["getConfig"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish a connection with the answer of the provider
         * @description Called by the page of the callback. Role: admin or owner.
         */
        post: operations["finishConnection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List shared credentials
         * @description Role: viewer or higher.
         */
        get: operations["listCredentials"];
        put?: never;
        /**
         * Create a credential that the provider accounts of many agents share
         * @description Role: admin or owner.
         */
        post: operations["createCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a shared credential without its value
         * @description Role: viewer or higher.
         */
        get: operations["getCredential"];
        put?: never;
        post?: never;
        /**
         * Delete a shared credential that no account uses
         * @description Role: admin or owner.
         */
        delete: operations["deleteCredential"];
        options?: never;
        head?: never;
        /**
         * Rename a shared credential
         * @description Role: admin or owner.
         */
        patch: operations["renameCredential"];
        trace?: never;
    };
    "/v1/credentials/{id}/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to connect a shared credential at its provider
         * @description Only for pages of this service: the connection is bound to the browser by a cookie. Role: admin or owner.
         */
        post: operations["connectCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{id}/disconnect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disconnect a shared credential and revoke its grant at the provider
         * @description Role: admin or owner.
         */
        post: operations["disconnectCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate a shared credential for all accounts that use it
         * @description Role: admin or owner.
         */
        post: operations["rotateCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{id}/rotation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel, roll back or end a rotation with overlap of a shared credential
         * @description Role: admin or owner.
         */
        post: operations["changeCredentialRotation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test whether the provider accepts a shared credential
         * @description Role: admin or owner.
         */
        post: operations["testCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/custom-providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All providers, with those of the organization
         * @description Role: viewer or higher.
         */
        get: operations["listCustomProviders"];
        put?: never;
        /**
         * Add a provider of the organization
         * @description Role: admin or owner.
         */
        post: operations["createCustomProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/custom-providers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Update a custom provider
         * @description Role: admin or owner.
         */
        put: operations["updateCustomProvider"];
        post?: never;
        /**
         * Delete a custom provider with its accounts
         * @description Role: admin or owner.
         */
        delete: operations["deleteCustomProvider"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deleted-orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deletions of the user’s organizations
         * @description Any session, whatever the role.
         */
        get: operations["listDeletedOrganizations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event-mail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List which members get which events by e-mail
         * @description Role: viewer or higher.
         */
        get: operations["listEventMail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event-mail/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the events that a member gets by e-mail
         * @description Role: viewer or higher.
         */
        put: operations["setEventMail"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events, newest first
         * @description Role: viewer or higher.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the types of events with their texts and samples
         * @description Role: viewer or higher.
         */
        get: operations["listEventTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation with the token from a mail
         * @description No session needed.
         */
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the invitation of a token from a mail
         * @description No session needed.
         */
        post: operations["lookUpInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/issuer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the issuer of the organization, and what to enter at providers
         * @description Role: viewer or higher.
         */
        get: operations["getIssuer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set manual or automatic activation of signing keys
         * @description Role: admin or owner.
         */
        patch: operations["updateIssuer"];
        trace?: never;
    };
    "/v1/issuer/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish the next key
         * @description Role: admin or owner.
         */
        post: operations["createIssuerKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/issuer/keys/{id}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Activate the pending signing key
         * @description Role: admin or owner.
         */
        post: operations["activateIssuerKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay recorded calls against other limits
         * @description Role: viewer or higher.
         */
        post: operations["replayLimits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/management-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List management tokens
         * @description Role: admin or owner.
         */
        get: operations["listManagementTokens"];
        put?: never;
        /**
         * Create a management token, which is returned only once
         * @description Role: admin or owner.
         */
        post: operations["createManagementToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/management-tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a management token
         * @description Role: admin or owner.
         */
        delete: operations["deleteManagementToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the current user or management token, with organization and role
         * @description Role: viewer or higher.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the user’s name
         * @description Any session, whatever the role.
         */
        patch: operations["updateMe"];
        trace?: never;
    };
    "/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List members and open invitations
         * @description Role: viewer or higher.
         */
        get: operations["listMembers"];
        put?: never;
        /**
         * Invite a member by e-mail
         * @description Role: admin or owner.
         */
        post: operations["inviteMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Leave the organization
         * @description Any session, whatever the role.
         */
        delete: operations["leaveOrganization"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member or revoke an invitation
         * @description Role: admin or owner.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        /**
         * Change the role of a member
         * @description Role: admin or owner.
         */
        patch: operations["setMemberRole"];
        trace?: never;
    };
    "/v1/members/{userId}/created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what a member created: tokens, webhooks, running runs, trust rules
         * @description Role: admin or owner.
         */
        get: operations["listCreatedByMember"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/{userId}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend an invitation
         * @description Role: admin or owner.
         */
        post: operations["resendInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/{userId}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sessions of a member in this organization
         * @description Role: owner.
         */
        get: operations["listMemberSessions"];
        put?: never;
        post?: never;
        /**
         * End all sessions of a member in this organization
         * @description Role: owner.
         */
        delete: operations["endMemberSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/{userId}/sessions/{sessionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session of a member in this organization
         * @description Role: owner.
         */
        delete: operations["endMemberSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an organization
         * @description Any session, whatever the role.
         */
        post: operations["createOrganization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the organization with its budget
         * @description Role: viewer or higher.
         */
        get: operations["getOrganization"];
        put?: never;
        post?: never;
        /**
         * Delete the organization after seven days, in which it can be restored
         * @description Revokes the gateway tokens of the organization at once and deletes everything in it after seven days. Until then an owner can restore it. All owners get a mail. Role: owner.
         */
        delete: operations["deleteOrganization"];
        options?: never;
        head?: never;
        /**
         * Rename the organization or set its budget
         * @description Role: admin or owner.
         */
        patch: operations["updateOrganization"];
        trace?: never;
    };
    "/v1/orgs/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore an organization within seven days of its deletion
         * @description Restores an organization within seven days of its deletion. Gateway tokens and management tokens stay revoked. Any session, whatever the role.
         */
        post: operations["restoreOrganization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/personal-agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the projects that allow personal agents, and your personal agents
         * @description Role: member or higher.
         */
        get: operations["listPersonalAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/personal-agents/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a gateway token for your personal agent; the first one also creates the agent
         * @description Role: member or higher.
         */
        post: operations["createPersonalAgentKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/personal-agents/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a gateway token of your personal agent
         * @description Role: member or higher.
         */
        delete: operations["revokePersonalAgentKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List prices and their sources
         * @description Role: viewer or higher.
         */
        get: operations["listPrices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List projects
         * @description Role: viewer or higher.
         */
        get: operations["listProjects"];
        put?: never;
        /**
         * Create a project
         * @description Role: admin or owner.
         */
        post: operations["createProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a project
         * @description Role: viewer or higher.
         */
        get: operations["getProject"];
        put?: never;
        post?: never;
        /**
         * Delete an empty project
         * @description Role: admin or owner.
         */
        delete: operations["deleteProject"];
        options?: never;
        head?: never;
        /**
         * Change the name, budgets, defaults for new agents or personal agents of a project
         * @description Role: admin or owner.
         */
        patch: operations["updateProject"];
        trace?: never;
    };
    "/v1/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Built-in providers
         * @description Role: viewer or higher.
         */
        get: operations["listProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the provider accounts of an agent, a project or the organization
         * @description Role: viewer or higher.
         */
        get: operations["listAccounts"];
        put?: never;
        /**
         * Create a provider account for an agent
         * @description Role: admin or owner.
         */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/accounts/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test whether a provider accepts credentials, without storing them
         * @description Role: admin or owner.
         */
        post: operations["testCredentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a provider account
         * @description Role: viewer or higher.
         */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        /**
         * Delete a provider account
         * @description Role: admin or owner.
         */
        delete: operations["deleteAccount"];
        options?: never;
        head?: never;
        /**
         * Allow or forbid sensitive paths for a provider account
         * @description Role: admin or owner.
         */
        patch: operations["updateAccount"];
        trace?: never;
    };
    "/v1/providers/accounts/{id}/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to connect a provider account at its provider
         * @description Only for pages of this service: the connection is bound to the browser by a cookie. Role: admin or owner.
         */
        post: operations["connectAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/accounts/{id}/disconnect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disconnect a provider account and revoke its grant at the provider
         * @description Role: admin or owner.
         */
        post: operations["disconnectAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/accounts/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the credentials of a provider account
         * @description Role: admin or owner.
         */
        post: operations["rotateAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/accounts/{id}/rotation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel, roll back or end a rotation with overlap of a provider account
         * @description Role: admin or owner.
         */
        post: operations["changeAccountRotation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/accounts/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test whether the provider accepts the credentials of an account
         * @description Role: admin or owner.
         */
        post: operations["testAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/accounts/{id}/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tools of the MCP server of an account
         * @description Role: viewer or higher.
         */
        get: operations["listAccountTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A built-in provider with its sensitive calls and its SDK
         * @description Role: viewer or higher.
         */
        get: operations["getProvider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs: top runs, or the runs of a tree
         * @description Role: viewer or higher.
         */
        get: operations["listRuns"];
        put?: never;
        /**
         * Start a run; its gateway token is returned only once
         * @description Role: admin or owner.
         */
        post: operations["startRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run
         * @description Role: viewer or higher.
         */
        get: operations["getRun"];
        put?: never;
        post?: never;
        /**
         * End a run, its sub-runs and their calls in progress
         * @description Role: admin or owner.
         */
        delete: operations["endRun"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the address, the tokens and the people of the directory
         * @description Role: admin or owner.
         */
        get: operations["getScim"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scim/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a SCIM token, which is returned only once
         * @description Role: owner.
         */
        post: operations["createScimToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scim/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a SCIM token
         * @description Role: owner.
         */
        delete: operations["deleteScimToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/second-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the state of the user’s second factor
         * @description Any session, whatever the role.
         */
        get: operations["getSecondFactor"];
        put?: never;
        /**
         * Create the secret of a second factor
         * @description The secret protects the account only after POST /v1/second-factor/confirm. Any session, whatever the role.
         */
        post: operations["createSecondFactor"];
        /**
         * Remove the second factor
         * @description Any session, whatever the role.
         */
        delete: operations["removeSecondFactor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/second-factor/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable the second factor with its first code
         * @description Ends all other sessions of the user. Any session, whatever the role.
         */
        post: operations["enableSecondFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/second-factor/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the recovery codes
         * @description Any session, whatever the role.
         */
        post: operations["renewRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/second-factor/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm the session with a code of the second factor
         * @description For 10 minutes the session may then do what answers 403 with secondFactor. Any session, whatever the role.
         */
        post: operations["confirmSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a browser session, which uses a cookie
         * @description Opens a session that the browser stores as a cookie: with e-mail and password, or with neither and a bearer token, which is revoked. Only for pages of this service. No session needed.
         */
        post: operations["openBrowserSession"];
        /**
         * Close the browser session
         * @description Any session, whatever the role.
         */
        delete: operations["closeBrowserSession"];
        options?: never;
        head?: never;
        /**
         * Switch the browser session to another organization
         * @description Any session, whatever the role.
         */
        patch: operations["switchBrowserSession"];
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the user’s sessions
         * @description Any session, whatever the role.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /**
         * Revoke all other sessions
         * @description Revokes all sessions of the user except the one of this call. Any session, whatever the role.
         */
        delete: operations["endOtherSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a session
         * @description Any session, whatever the role.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sso": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the identity provider and the domains of the organization
         * @description Role: admin or owner.
         */
        get: operations["getSso"];
        /**
         * Set the identity provider of the organization
         * @description Reads the discovery document. A new issuer or client ends the sessions of the previous one. Role: owner.
         */
        put: operations["configureSso"];
        post?: never;
        /**
         * Remove the identity provider and end its sessions
         * @description Role: owner.
         */
        delete: operations["removeSso"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sso/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a domain of e-mail addresses
         * @description Role: owner.
         */
        post: operations["addSsoDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sso/domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a domain
         * @description Role: owner.
         */
        delete: operations["removeSsoDomain"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sso/domains/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Look up the TXT record of a domain
         * @description Role: owner.
         */
        post: operations["verifySsoDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sso/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in once to the account that single sign-on will open
         * @description Called by the page of the callback. No session needed.
         */
        post: operations["linkSso"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sso/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a login by single sign-on
         * @description Only for pages of this service: the login is bound to the browser by a cookie. No session needed.
         */
        post: operations["startSso"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sso/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test the identity provider and the settings without a login
         * @description Each step says what to do. A login is not tried: steps that only a login can answer have ok null. Role: admin or owner.
         */
        post: operations["testSso"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the health of the built-in providers
         * @description No session needed.
         */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suspended-items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List items that were suspended because they were created before the founder’s mailbox was proven
         * @description Role: owner.
         */
        get: operations["listSuspendedItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suspended-items/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a suspended item: delete it permanently
         * @description Role: owner.
         */
        delete: operations["revokeSuspendedItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suspended-items/{id}/keep": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep a suspended item: restore it
         * @description Role: owner.
         */
        post: operations["keepSuspendedItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a workload’s token for a gateway key (RFC 8693)
         * @description Errors have the form of RFC 6749 §5.2. 429 and 503 state Retry-After. No session needed.
         */
        post: operations["exchangeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/trust-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List trust rules, newest first
         * @description Role: viewer or higher.
         */
        get: operations["listTrustRules"];
        put?: never;
        /**
         * Create a trust rule; without jwks it reads the issuer’s keys
         * @description Role: admin or owner.
         */
        post: operations["createTrustRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/trust-rules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a trust rule
         * @description Role: viewer or higher.
         */
        get: operations["getTrustRule"];
        put?: never;
        post?: never;
        /**
         * Delete a trust rule; its keys and their calls end
         * @description Role: admin or owner.
         */
        delete: operations["deleteTrustRule"];
        options?: never;
        head?: never;
        /**
         * Change a trust rule; all but a new name ends its keys
         * @description Role: admin or owner.
         */
        patch: operations["updateTrustRule"];
        trace?: never;
    };
    "/v1/usage/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents of all projects with their usage
         * @description Role: viewer or higher.
         */
        get: operations["listAgentFigures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/agents/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare the usage of several agents
         * @description Role: viewer or higher.
         */
        get: operations["compareAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/agents/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get usage totals of an agent by provider
         * @description Role: viewer or higher.
         */
        get: operations["getAgentUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/agents/{agentId}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all calls of an agent as a file
         * @description Role: viewer or higher.
         */
        get: operations["exportAgentCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/agents/{agentId}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List calls of an agent
         * @description Role: viewer or higher.
         */
        get: operations["listAgentCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/agents/{agentId}/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get latency and errors of an agent by provider
         * @description Role: viewer or higher.
         */
        get: operations["getAgentProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/agents/{agentId}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get usage totals and forecast of an agent
         * @description Role: viewer or higher.
         */
        get: operations["getAgentSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/agents/{agentId}/timeseries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get usage of an agent over time
         * @description Role: viewer or higher.
         */
        get: operations["getAgentTimeseries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/breakdown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get usage by agent, provider, model and other dimensions
         * @description Role: viewer or higher.
         */
        get: operations["getUsageBreakdown"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List forwarded and rejected calls in one list
         * @description Role: viewer or higher.
         */
        get: operations["listForwardedAndRejectedCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all calls of a scope as a file
         * @description Role: viewer or higher.
         */
        get: operations["exportCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List calls of the organization, a project or an agent
         * @description Role: viewer or higher.
         */
        get: operations["listCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/logs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a call
         * @description Role: viewer or higher.
         */
        get: operations["getCall"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/refusals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count rejected requests by reason
         * @description Role: viewer or higher.
         */
        get: operations["getRefusals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/rejected-calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the newest calls that the gateway rejected
         * @description Role: admin or owner.
         */
        get: operations["listRejectedCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get usage totals of the organization, a project or an agent
         * @description Role: viewer or higher.
         */
        get: operations["getUsageSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/timeseries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get usage over time
         * @description Role: viewer or higher.
         */
        get: operations["getUsageTimeseries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook endpoints
         * @description Role: viewer or higher.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook endpoint; the secret is returned once
         * @description Role: admin or owner.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a delivery with its payload
         * @description Role: viewer or higher.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/deliveries/{deliveryId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a failed delivery
         * @description Role: member or higher.
         */
        post: operations["retryDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{endpointId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook endpoint
         * @description Role: viewer or higher.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook endpoint
         * @description Role: viewer or higher.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook endpoint with its deliveries
         * @description Role: admin or owner.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Update a webhook endpoint, or pause it
         * @description Role: admin or owner.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/v1/webhooks/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay the deliveries of a time range
         * @description Role: admin or owner.
         */
        post: operations["replayDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret; both secrets sign during the overlap
         * @description Role: admin or owner.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a sample event to a webhook endpoint
         * @description Queues a sample of an event that the endpoint subscribes to. Every id in it is the nil UUID. Role: admin or owner.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "agent.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Agent created
         * @description An agent was created.
         */
        post: operations["onAgentCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "agent.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Agent deleted
         * @description An agent was deleted.
         */
        post: operations["onAgentDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "agent.budget_exceeded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Budget exceeded
         * @description The monthly budget of an agent is used up. Sent once per agent and month.
         */
        post: operations["onAgentBudgetExceeded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "run.ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run ended
         * @description A top run was ended, or its time passed. Its sub-runs end with it and send nothing of their own.
         */
        post: operations["onRunEnded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "run.budget_exceeded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Budget of a run exceeded
         * @description The budget of a run or sub-run rejected a call. Sent once per run.
         */
        post: operations["onRunBudgetExceeded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.exceeded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Budget of a window exceeded
         * @description A budget row of an agent, a project or an organization is used up. Sent once per row and window. The plain monthly budget of an agent sends agent.budget_exceeded.
         */
        post: operations["onBudgetExceeded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.threshold": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Budget of a window nearly used
         * @description A budget row of an agent has reached a percentage of the agent’s usageThresholds. Sent once per row, window and percentage.
         */
        post: operations["onBudgetThreshold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "limit.would_reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Limit in audit mode reached
         * @description A limit in audit mode would have rejected a call, which passed. Sent once per budget row and window; for a rate limit once per agent and day.
         */
        post: operations["onLimitWouldReject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider.circuit_opened": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Provider failing, calls blocked
         * @description A breaker opened: calls to the provider are rejected. Sent to the organization whose breaker changed; with `scope: "fleet"` to all organizations with an account of the provider. A breaker that opens again and again sends the first and the last.
         */
        post: operations["onProviderCircuitOpened"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider.circuit_closed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Provider recovered
         * @description A breaker closed: the provider has recovered. Sent to the organization whose breaker changed; with `scope: "fleet"` to all organizations with an account of the provider.
         */
        post: operations["onProviderCircuitClosed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "alert.opened": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Alert rule met
         * @description A value met the condition of an alert rule. Sent once per alert. During a silence, the gateway sends it when the silence ends, if the rule is still met.
         */
        post: operations["onAlertOpened"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "alert.resolved": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Alert resolved
         * @description The rule of an alert was not met for an hour. Sent for alerts that sent alert.opened, also during a silence.
         */
        post: operations["onAlertResolved"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "abuse.detected": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspicious traffic
         * @description The use of an agent’s gateway token looks like abuse: many rejections, many upstream 401 and 403, or one token from many addresses, above thresholds that operators set. Sent at most once per agent and hour.
         */
        post: operations["onAbuseDetected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credential.refused": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Provider rejected a credential
         * @description A provider rejects the credential of an account, which is out of use.
         */
        post: operations["onCredentialRefused"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credential.accepted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Provider accepts the credential again
         * @description A provider accepts the credential of an account again, which is back in use.
         */
        post: operations["onCredentialAccepted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credential.refresh_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Credential not minted
         * @description The gateway cannot mint the credential of an account. Sent once, when none is left or the third attempt has failed.
         */
        post: operations["onCredentialRefreshFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credential.refreshed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Credential minted again
         * @description The gateway has minted the credential of an account after `credential.refresh_failed`.
         */
        post: operations["onCredentialRefreshed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credential.rotated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * New credential in use
         * @description The provider accepts the new credential of a rotation with overlap, and new calls carry it.
         */
        post: operations["onCredentialRotated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credential.rotation_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * New credential rejected
         * @description The provider does not accept the new credential of a rotation with overlap. The current one stays in use.
         */
        post: operations["onCredentialRotationFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credential.rolled_back": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Credential rolled back
         * @description The previous credential of a rotation with overlap is in use again: the provider rejects the new one, or an admin rolled back.
         */
        post: operations["onCredentialRolledBack"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credential.retired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Previous credential deleted
         * @description The previous credential of a rotation with overlap is deleted from the gateway. Revoke it at the provider.
         */
        post: operations["onCredentialRetired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credential.used_elsewhere": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Provider key used elsewhere
         * @description The provider bills calls of a key that the gateway did not make: another program has the key. Sent once per key and day, from the threshold of the billing account on.
         */
        post: operations["onCredentialUsedElsewhere"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "price.drift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Price differs from the bill
         * @description The provider bills a model at another price than the gateway. Sent once per billing account, model and month.
         */
        post: operations["onPriceDrift"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.paused": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Webhook paused
         * @description An endpoint was paused because every attempt failed.
         */
        post: operations["onWebhookPaused"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "usage.threshold": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Budget threshold reached
         * @description The spend of an agent has reached a threshold of its budget, 80 percent by default. Sent once per agent, month and threshold.
         */
        post: operations["onUsageThreshold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "audit.entry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Audit entry
         * @description The audit trail has a new entry. Only webhooks receive it, and only admins see its payload: it is in no list of events, and is not mailed.
         */
        post: operations["onAuditEntry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "calls.rejected": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Calls rejected
         * @description The gateway has rejected calls of agents. Sent at most once a minute, with counts and the last call of each agent, provider and reason. Only webhooks receive it, and only admins see its payload: it is in no list of events, and is not mailed.
         */
        post: operations["onCallsRejected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        AbuseDetectedData: {
            agentId: string;
            agentName: string;
            /** @enum {string} */
            reason: "rejections" | "auth_failures" | "addresses";
            count: number;
            windowSeconds: number;
            orgId: string;
        };
        AbuseDetectedEvent: {
            /** @constant */
            event: "abuse.detected";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["AbuseDetectedData"];
        };
        AcceptInput: {
            token: string;
            name?: string;
            password?: string;
            /** @description The 6 digits that the authenticator app shows, or a recovery code. Each code works once. */
            code?: string;
        };
        AcceptRefused: {
            error: string;
            /** @constant */
            existing?: true;
            /** @constant */
            secondFactor?: true;
        };
        Account: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            agentId: string;
            providerSlug: string;
            /** @enum {string} */
            status: "active" | "needs_credentials";
            /**
             * Format: uuid
             * @description Id of the shared credential that the account uses; null when it has its own credentials.
             */
            credentialId: string | null;
            /** @description Null: the credential is stored. */
            minted: {
                method: string;
                kind: string;
                /**
                 * @description waiting: nothing was needed yet. failing: the last attempt failed; a former token may still serve. not_connected, reconnect_needed: a person must connect the account.
                 * @enum {string}
                 */
                state: "waiting" | "not_connected" | "active" | "failing" | "expired" | "reconnect_needed";
                /** @description Granted scopes, where the provider states them. */
                scope: string | null;
                /**
                 * Format: date-time
                 * @description The last success.
                 */
                mintedAt: string | null;
                /**
                 * Format: date-time
                 * @description Until the gateway uses the present token; null: no expiry, or no token.
                 */
                expiresAt: string | null;
                /**
                 * Format: date-time
                 * @description When a person last connected it. Null: never, or its kind of credential is not connected.
                 */
                connectedAt: string | null;
                failure: {
                    reason: string;
                    /** @description Error code of the token endpoint. */
                    detail: string | null;
                    cause: string;
                    remedy: string;
                    /** Format: date-time */
                    at: string;
                    /**
                     * Format: date-time
                     * @description Null: when a person has acted.
                     */
                    nextAttemptAt: string | null;
                } | null;
            } | null;
            /** @description The current or last rotation with overlap; null: no rotation has started. */
            rotation: {
                /**
                 * @description testing: the new credential is stored and not in use. rejected: the provider does not accept it. retiring: it is in use, and the previous one is kept. retired: the previous one is deleted. rolled_back: the previous one is in use again.
                 * @enum {string}
                 */
                state: "testing" | "rejected" | "retiring" | "retired" | "rolled_back" | "cancelled";
                /** Format: date-time */
                startedAt: string;
                /** @description HTTP status of the last test; null: no answer. */
                testStatus: number | null;
                /** @description Why the last test did not accept the credential. */
                problem: string | null;
                /**
                 * Format: date-time
                 * @description When a credential that could not be tested is tested again.
                 */
                nextTestAt: string | null;
                /**
                 * Format: date-time
                 * @description From when on new calls carry the new credential.
                 */
                inUseSince: string | null;
                /**
                 * Format: date-time
                 * @description Until then the previous credential is kept, even without calls that use it.
                 */
                keepUntil: string | null;
                /**
                 * Format: date-time
                 * @description When the previous credential is deleted at the latest.
                 */
                retiresBy: string | null;
                /** @description Calls and WebSockets in flight with the previous credential; null: not every data plane has reported. */
                callsInFlight: number | null;
                /**
                 * Format: date-time
                 * @description When the rotation ended.
                 */
                endedAt: string | null;
                /** @description The previous credential is compromised and never used again. */
                compromised: boolean;
            } | null;
            /**
             * @description Always the string "true".
             * @constant
             */
            isByok: "true";
            /** @constant */
            mode: "byok";
            /** @description Whether calls that return credentials are allowed. */
            allowSensitivePaths: boolean;
            /** @description Whether calls are allowed whose path does not say what they do. */
            allowOpaque: boolean;
            /**
             * Format: date-time
             * @description Start of the last call with the account, to the minute. Null: none.
             */
            lastUsedAt: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        AccountInput: {
            /** Format: uuid */
            agentId: string;
            providerSlug: string;
            /** @description The provider’s own fields; write-only, stored encrypted. */
            credentials?: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @description A shared credential of that provider, instead of credentials.
             */
            credentialId?: string;
            /** @description Allow calls that return credentials or change access permissions; false by default. */
            allowSensitivePaths?: boolean;
            /** @description Allow calls whose path does not say what they do, such as GraphQL; false by default. */
            allowOpaque?: boolean;
        };
        AccountList: {
            accounts: {
                /** Format: uuid */
                id: string;
                /** Format: uuid */
                agentId: string;
                providerSlug: string;
                /** @enum {string} */
                status: "active" | "needs_credentials";
                /**
                 * Format: uuid
                 * @description Id of the shared credential that the account uses; null when it has its own credentials.
                 */
                credentialId: string | null;
                /** @description Null: the credential is stored. */
                minted: {
                    method: string;
                    kind: string;
                    /**
                     * @description waiting: nothing was needed yet. failing: the last attempt failed; a former token may still serve. not_connected, reconnect_needed: a person must connect the account.
                     * @enum {string}
                     */
                    state: "waiting" | "not_connected" | "active" | "failing" | "expired" | "reconnect_needed";
                    /** @description Granted scopes, where the provider states them. */
                    scope: string | null;
                    /**
                     * Format: date-time
                     * @description The last success.
                     */
                    mintedAt: string | null;
                    /**
                     * Format: date-time
                     * @description Until the gateway uses the present token; null: no expiry, or no token.
                     */
                    expiresAt: string | null;
                    /**
                     * Format: date-time
                     * @description When a person last connected it. Null: never, or its kind of credential is not connected.
                     */
                    connectedAt: string | null;
                    failure: {
                        reason: string;
                        /** @description Error code of the token endpoint. */
                        detail: string | null;
                        cause: string;
                        remedy: string;
                        /** Format: date-time */
                        at: string;
                        /**
                         * Format: date-time
                         * @description Null: when a person has acted.
                         */
                        nextAttemptAt: string | null;
                    } | null;
                } | null;
                /** @description The current or last rotation with overlap; null: no rotation has started. */
                rotation: {
                    /**
                     * @description testing: the new credential is stored and not in use. rejected: the provider does not accept it. retiring: it is in use, and the previous one is kept. retired: the previous one is deleted. rolled_back: the previous one is in use again.
                     * @enum {string}
                     */
                    state: "testing" | "rejected" | "retiring" | "retired" | "rolled_back" | "cancelled";
                    /** Format: date-time */
                    startedAt: string;
                    /** @description HTTP status of the last test; null: no answer. */
                    testStatus: number | null;
                    /** @description Why the last test did not accept the credential. */
                    problem: string | null;
                    /**
                     * Format: date-time
                     * @description When a credential that could not be tested is tested again.
                     */
                    nextTestAt: string | null;
                    /**
                     * Format: date-time
                     * @description From when on new calls carry the new credential.
                     */
                    inUseSince: string | null;
                    /**
                     * Format: date-time
                     * @description Until then the previous credential is kept, even without calls that use it.
                     */
                    keepUntil: string | null;
                    /**
                     * Format: date-time
                     * @description When the previous credential is deleted at the latest.
                     */
                    retiresBy: string | null;
                    /** @description Calls and WebSockets in flight with the previous credential; null: not every data plane has reported. */
                    callsInFlight: number | null;
                    /**
                     * Format: date-time
                     * @description When the rotation ended.
                     */
                    endedAt: string | null;
                    /** @description The previous credential is compromised and never used again. */
                    compromised: boolean;
                } | null;
                /**
                 * @description Always the string "true".
                 * @constant
                 */
                isByok: "true";
                /** @constant */
                mode: "byok";
                /** @description Whether calls that return credentials are allowed. */
                allowSensitivePaths: boolean;
                /** @description Whether calls are allowed whose path does not say what they do. */
                allowOpaque: boolean;
                /**
                 * Format: date-time
                 * @description Start of the last call with the account, to the minute. Null: none.
                 */
                lastUsedAt: string | null;
                /** Format: date-time */
                createdAt: string;
                agentName: string;
            }[];
            total: number;
            limit: number;
            offset: number;
        };
        AccountPatch: {
            /** @description Allow calls that return credentials or change access permissions; false by default. */
            allowSensitivePaths?: boolean;
            /** @description Allow calls whose path does not say what they do, such as GraphQL; false by default. */
            allowOpaque?: boolean;
        };
        AccountReply: {
            account: components["schemas"]["Account"];
        };
        AccountReportReply: {
            account: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                api: "openai" | "anthropic" | "openrouter";
                /** @description The provider whose calls are compared. */
                providerSlug: string;
                name: string;
                /** @description Unattributed cost of a key and day that causes `credential.used_elsewhere`. */
                alertCents: number;
                /** @description Last check of the month that succeeded; null: none. */
                checkedAt: string | null;
                /** @description Why the last check failed; null: it succeeded. */
                problem: string | null;
                /** Format: date-time */
                createdAt: string;
                /**
                 * @description The most urgent state of the lines. `unchecked`: no check of the month has succeeded. `adjusted`: adjustments cover the difference.
                 * @enum {string}
                 */
                state: "match" | "pending" | "drift" | "unbilled" | "ambiguous" | "unattributed" | "unchecked" | "adjusted";
                /** @description Booked by the gateway. */
                ourCents: number;
                /** @description Reported by the provider. */
                theirCents: number;
                /** @description `theirCents` minus `ourCents`: the sum of the five causes. */
                differenceCents: number;
                /** @description Billed calls that failed at the gateway. */
                failureCents: number;
                /** @description Calls that the gateway did not make. */
                unattributedCents: number;
                /** @description Calls that the gateway did not make, of one of several keys that the provider shows alike. */
                ambiguousCents: number;
                /** @description Booked calls that the provider does not bill; 0 or negative. */
                unbilledCents: number;
                /** @description The same tokens at another price. */
                priceCents: number;
                /** @description The part of `unbilledCents` that the provider may still report; 0 or negative. */
                pendingCents: number;
                /** @description Cost of keys that no account of the organization holds. Not part of `theirCents`. */
                otherKeysCents: number;
                /** @description Accepted differences of the month. */
                adjustmentCents: number;
                /** @description `differenceCents` minus `adjustmentCents`. */
                openCents: number;
            };
        };
        AccountTools: {
            /** Format: uuid */
            accountId: string;
            /** Format: uuid */
            agentId: string;
            providerSlug: string;
            /** @description Why the server’s tools could not be listed; null: they were. */
            problem: string | null;
            /**
             * Format: date-time
             * @description When the server listed them; null: never.
             */
            fetchedAt: string | null;
            /** @description The server has more than the 500 tools that are listed. */
            truncated: boolean;
            tools: {
                name: string;
                title: string | null;
                description: string | null;
                /** @description The server’s own claim, which no one has checked. */
                readOnly: boolean | null;
                /** @description The server’s own claim, which no one has checked. */
                destructive: boolean | null;
                /** @description Whether the policy of the agent allows the tool. */
                allowed: boolean;
                /** @description Requests in any 60 seconds by `toolLimits` of the policy; null: no limit of its own. */
                rpm: number | null;
            }[];
        };
        AddressInput: {
            /** Format: email */
            email: string;
        };
        AdjustmentInput: {
            /** Format: uuid */
            accountId: string;
            /** @description UTC month, `YYYY-MM`. */
            month: string;
            amountCents: number;
            reason: string;
        };
        AdjustmentReply: {
            adjustment: {
                /** Format: uuid */
                id: string;
                /** Format: uuid */
                accountId: string;
                /** @description UTC month, `YYYY-MM`. */
                month: string;
                /** @description Accepted difference. */
                amountCents: number;
                reason: string;
                createdBy: string;
                /** Format: date-time */
                createdAt: string;
            };
        };
        Agent: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            /** @enum {string} */
            status: "active" | "paused" | "revoked";
            budgetCentsMonthly: number | null;
            rpmLimit: number;
            rpdLimit: number;
            tpmLimit: number | null;
            /** Format: uuid */
            projectId: string;
            /**
             * Format: uuid
             * @description The member whose personal agent this is; absent: an agent of the organization.
             */
            ownerUserId?: string;
            description: string;
            usageThresholds: number[];
            /** @description By provider slug; a provider that is not listed is not allowed. Null: all calls are allowed. */
            policy: {
                [key: string]: {
                    /** @description A method or *, a space, and a path of the provider. * matches any characters within one segment, ** any number of segments including none. Example: GET /v1/models/** */
                    calls?: string[];
                    models?: {
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        allow?: string[];
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Tools of an MCP server. deny wins. Without allow, all that are not denied. */
                    tools?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Resources of an MCP server. deny wins. Without allow, all that are not denied. */
                    resources?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Prompts of an MCP server. deny wins. Without allow, all that are not denied. */
                    prompts?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Limits for tools of an MCP server, beside those of the agent. The first entry that matches counts; all tools that match share it. */
                    toolLimits?: {
                        /** @description Name of a tool, case-insensitive; * matches any number of characters. */
                        tool: string;
                        /** @description Requests in any 60 seconds. */
                        rpm: number;
                    }[];
                };
            } | null;
            /**
             * @description soft: calls pass until the budget is spent. hard: a call passes only if its maximum cost fits into the rest of the budget.
             * @enum {string}
             */
            budgetMode: "soft" | "hard";
            /** @description Output tokens that a hard budget reserves for a call without a maximum of its own; 4096 by default. */
            holdMaxOutputTokens: number;
            /**
             * @description What happens to calls while limits cannot be checked: allow or refuse (503). The default is refuse for a hard budget and allow for a soft one.
             * @enum {string}
             */
            onStoreLoss: "allow" | "refuse";
            /** @description Budgets of every window, the plain monthly one first. */
            budgets: components["schemas"]["BudgetRow"][];
            /** @description Limits in audit mode: counted, and never reject. The answer names them in x-gateway-would-reject. For a budget, use mode: audit. */
            auditLimits: ("rpm" | "rpd" | "tpm")[];
            /** Format: date-time */
            createdAt: string;
        };
        AgentBudgetExceededData: {
            agentId: string;
            agentName: string;
            budgetCentsMonthly: number;
            spentCents: number;
            orgId: string;
        };
        AgentBudgetExceededEvent: {
            /** @constant */
            event: "agent.budget_exceeded";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["AgentBudgetExceededData"];
        };
        AgentCreatedData: {
            agentId: string;
            agentName: string;
            projectId: string;
            orgId: string;
        };
        AgentCreatedEvent: {
            /** @constant */
            event: "agent.created";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["AgentCreatedData"];
        };
        AgentCreatedReply: {
            agent: {
                /** Format: uuid */
                id: string;
                name: string;
                slug: string;
                /** @enum {string} */
                status: "active" | "paused" | "revoked";
                budgetCentsMonthly: number | null;
                rpmLimit: number;
                rpdLimit: number;
                /** Format: uuid */
                projectId: string;
            };
        };
        AgentDeletedData: {
            agentId: string;
            agentName: string;
            projectId: string;
            orgId: string;
        };
        AgentDeletedEvent: {
            /** @constant */
            event: "agent.deleted";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["AgentDeletedData"];
        };
        AgentFigures: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            /** @enum {string} */
            status: "active" | "paused" | "revoked";
            /** Format: uuid */
            projectId: string;
            projectName: string;
            /**
             * Format: uuid
             * @description The member whose personal agent this is; null: an agent of the organization.
             */
            ownerUserId: string | null;
            budgetCentsMonthly: number | null;
            rpmLimit: number;
            rpdLimit: number;
            /** @description Percentages of the monthly budget at which alerts are sent. */
            usageThresholds: number[];
            /** Format: date-time */
            createdAt: string;
            requests: number;
            errors: number;
            errorRate: number;
            rejectedRequests: number;
            tokensIn: number;
            tokensOut: number;
            /** @description US cents, not rounded. */
            costCents: number;
            /** @description US dollars, rounded to six decimals. */
            costUsd: number;
            avgLatency: number;
            p95Latency: number;
            /** @description US cents, not rounded. */
            monthCents: number;
            /** @description Percentage of this month's budget. Null if there is no budget or the budget is 0. */
            budgetUsedPercent: number | null;
            /** @description Start of the last forwarded call. For calls older than the hourly rollups, the day. */
            lastCallAt: string | null;
            series?: components["schemas"]["AgentSeries"];
        };
        AgentFiguresReply: {
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            from: string;
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            to: string;
            /** @description Present if series was requested: starts of the buckets, oldest first. */
            buckets?: string[];
            agents: components["schemas"]["AgentFigures"][];
            total: number;
            limit: number;
            offset: number;
        };
        AgentInput: {
            /** Format: uuid */
            projectId: string;
            name: string;
            description?: string;
            /** @description US cents per calendar month over all providers; null: no budget. */
            budgetCentsMonthly?: number | null;
            /** @description Requests in any 60 seconds, per provider; null: the default, 60. */
            rpmLimit?: number | null;
            /** @description Requests per 24 hours, per provider; null: the default, 10000. */
            rpdLimit?: number | null;
            /** @description Tokens in and out of calls that ended in the last 60 seconds, per provider; null: no limit. */
            tpmLimit?: number | null;
            /**
             * @description soft: calls pass until the budget is spent. hard: a call passes only if its maximum cost fits into the rest of the budget.
             * @enum {string}
             */
            budgetMode?: "soft" | "hard";
            /** @description Output tokens that a hard budget reserves for a call without a maximum of its own; 4096 by default. */
            holdMaxOutputTokens?: number;
            /**
             * @description What happens to calls while limits cannot be checked: allow or refuse (503). The default is refuse for a hard budget and allow for a soft one. Null resets it to the default.
             * @enum {string|null}
             */
            onStoreLoss?: "allow" | "refuse" | null;
            /** @description All budgets of the object: replaces the list. One row per window, models and tag. The row of the window month without models and tag is budgetCentsMonthly and its mode. */
            budgets?: components["schemas"]["BudgetRowInput"][];
            /** @description Limits in audit mode: counted, and never reject. The answer names them in x-gateway-would-reject. For a budget, use mode: audit. */
            auditLimits?: ("rpm" | "rpd" | "tpm")[];
            /** @description Percentages of the budget at which the event usage.threshold is sent, at most once a month each. */
            usageThresholds?: number[];
            /** @description By provider slug; a provider that is not listed is not allowed. Null: all calls are allowed. */
            policy?: {
                [key: string]: {
                    /** @description A method or *, a space, and a path of the provider. * matches any characters within one segment, ** any number of segments including none. Example: GET /v1/models/** */
                    calls?: string[];
                    models?: {
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        allow?: string[];
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Tools of an MCP server. deny wins. Without allow, all that are not denied. */
                    tools?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Resources of an MCP server. deny wins. Without allow, all that are not denied. */
                    resources?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Prompts of an MCP server. deny wins. Without allow, all that are not denied. */
                    prompts?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Limits for tools of an MCP server, beside those of the agent. The first entry that matches counts; all tools that match share it. */
                    toolLimits?: {
                        /** @description Name of a tool, case-insensitive; * matches any number of characters. */
                        tool: string;
                        /** @description Requests in any 60 seconds. */
                        rpm: number;
                    }[];
                };
            } | null;
        };
        AgentList: {
            agents: {
                /** Format: uuid */
                id: string;
                name: string;
                slug: string;
                /** @enum {string} */
                status: "active" | "paused" | "revoked";
                budgetCentsMonthly: number | null;
                rpmLimit: number;
                rpdLimit: number;
                /**
                 * Format: uuid
                 * @description The member whose personal agent this is; absent: an agent of the organization.
                 */
                ownerUserId?: string;
                /** Format: date-time */
                createdAt: string;
            }[];
            total: number;
            limit: number;
            offset: number;
        };
        AgentPatch: {
            name?: string;
            description?: string;
            /** @description US cents per calendar month over all providers; null: no budget. */
            budgetCentsMonthly?: number | null;
            /** @description Requests in any 60 seconds, per provider; null: the default, 60. */
            rpmLimit?: number | null;
            /** @description Requests per 24 hours, per provider; null: the default, 10000. */
            rpdLimit?: number | null;
            /** @description Tokens in and out of calls that ended in the last 60 seconds, per provider; null: no limit. */
            tpmLimit?: number | null;
            /**
             * @description soft: calls pass until the budget is spent. hard: a call passes only if its maximum cost fits into the rest of the budget.
             * @enum {string}
             */
            budgetMode?: "soft" | "hard";
            /** @description Output tokens that a hard budget reserves for a call without a maximum of its own; 4096 by default. */
            holdMaxOutputTokens?: number;
            /**
             * @description What happens to calls while limits cannot be checked: allow or refuse (503). The default is refuse for a hard budget and allow for a soft one. Null resets it to the default.
             * @enum {string|null}
             */
            onStoreLoss?: "allow" | "refuse" | null;
            /** @description All budgets of the object: replaces the list. One row per window, models and tag. The row of the window month without models and tag is budgetCentsMonthly and its mode. */
            budgets?: components["schemas"]["BudgetRowInput"][];
            /** @description Limits in audit mode: counted, and never reject. The answer names them in x-gateway-would-reject. For a budget, use mode: audit. */
            auditLimits?: ("rpm" | "rpd" | "tpm")[];
            /** @description Percentages of the budget at which the event usage.threshold is sent, at most once a month each. */
            usageThresholds?: number[];
            /** @description By provider slug; a provider that is not listed is not allowed. Null: all calls are allowed. */
            policy?: {
                [key: string]: {
                    /** @description A method or *, a space, and a path of the provider. * matches any characters within one segment, ** any number of segments including none. Example: GET /v1/models/** */
                    calls?: string[];
                    models?: {
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        allow?: string[];
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Tools of an MCP server. deny wins. Without allow, all that are not denied. */
                    tools?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Resources of an MCP server. deny wins. Without allow, all that are not denied. */
                    resources?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Prompts of an MCP server. deny wins. Without allow, all that are not denied. */
                    prompts?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Limits for tools of an MCP server, beside those of the agent. The first entry that matches counts; all tools that match share it. */
                    toolLimits?: {
                        /** @description Name of a tool, case-insensitive; * matches any number of characters. */
                        tool: string;
                        /** @description Requests in any 60 seconds. */
                        rpm: number;
                    }[];
                };
            } | null;
        };
        AgentReply: {
            agent: components["schemas"]["Agent"];
        };
        /** @description Present if series was requested: one value per entry of buckets. */
        AgentSeries: {
            requests: number[];
            costUsd: number[];
        };
        AgentStatusInput: {
            /** @enum {string} */
            status: "active" | "paused" | "revoked";
        };
        Alert: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            ruleId: string;
            ruleName: string;
            /**
             * @description error_rate: failed calls. latency: the 95th percentile. spend: the cost.
             * @enum {string}
             */
            metric: "error_rate" | "latency" | "spend";
            /** @enum {string} */
            scope: "org" | "project" | "agent";
            /** @description Of the scope project. */
            projectId: string | null;
            /** @description Of the scope agent. */
            agentId: string | null;
            /** @description Name of the organization, project or agent. */
            scopeName: string;
            /** @description At the last evaluation that met the rule. Percent for error_rate, milliseconds for latency, US cents for spend. */
            value: number;
            /** @description The same hours of last week; null: as `value`. */
            baseline: number | null;
            /** @enum {string} */
            state: "open" | "acknowledged" | "resolved";
            /** Format: date-time */
            openedAt: string;
            /**
             * Format: date-time
             * @description The last evaluation that met the rule.
             */
            metAt: string;
            /** @description One hour after `metAt`; null: open. */
            resolvedAt: string | null;
            /** @description null: not acknowledged. */
            acknowledgedAt: string | null;
            /** @description Name of the person; null also for a deleted account. */
            acknowledgedBy: string | null;
            /** @description Of the rule. */
            silencedUntil: string | null;
        };
        AlertList: {
            alerts: components["schemas"]["Alert"][];
            total: number;
            limit: number;
            offset: number;
        };
        AlertOpenedData: {
            alertId: string;
            ruleId: string;
            ruleName: string;
            /** @enum {string} */
            metric: "error_rate" | "latency" | "spend";
            /** @description Percent for error_rate, milliseconds for latency, US cents for spend. */
            value: number;
            /** @description Last week; null: not enough calls. */
            baseline: number | null;
            windowHours: number;
            increasePercent: number;
            atLeast: number;
            /** @enum {string} */
            scope: "org" | "project" | "agent";
            scopeId: string;
            scopeName: string;
            /** @description Of the scope agent. */
            agentId?: string;
            agentName?: string;
            orgId: string;
        };
        AlertOpenedEvent: {
            /** @constant */
            event: "alert.opened";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["AlertOpenedData"];
        };
        AlertReply: {
            alert: components["schemas"]["Alert"];
        };
        AlertResolvedData: {
            alertId: string;
            ruleId: string;
            ruleName: string;
            /** @enum {string} */
            metric: "error_rate" | "latency" | "spend";
            /** @description Percent for error_rate, milliseconds for latency, US cents for spend. */
            value: number;
            /** @description Last week; null: not enough calls. */
            baseline: number | null;
            windowHours: number;
            increasePercent: number;
            atLeast: number;
            /** @enum {string} */
            scope: "org" | "project" | "agent";
            scopeId: string;
            scopeName: string;
            /** @description Of the scope agent. */
            agentId?: string;
            agentName?: string;
            orgId: string;
        };
        AlertResolvedEvent: {
            /** @constant */
            event: "alert.resolved";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["AlertResolvedData"];
        };
        AlertRule: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description error_rate: failed calls. latency: the 95th percentile. spend: the cost.
             * @enum {string}
             */
            metric: "error_rate" | "latency" | "spend";
            /** @enum {string} */
            scope: "org" | "project" | "agent";
            /** @description Of the scope project. */
            projectId: string | null;
            /** @description Of the scope agent. */
            agentId: string | null;
            /** @description Name of the organization, project or agent. */
            scopeName: string;
            /** @description Percent for error_rate, milliseconds for latency, US cents for spend. null: not enough calls, or the evaluation failed. */
            value: number | null;
            /** @description The same hours of last week; null: as `value`. */
            baseline: number | null;
            /** @description How many hours are measured, the current one included. Default 1. */
            windowHours: number;
            /** @description How much more than in the same hours of last week. Default 50. */
            increasePercent: number;
            /** @description Smaller values do not meet the rule. Percent for error_rate, milliseconds for latency, US cents for spend. */
            atLeast: number;
            enabled: boolean;
            /** @description No `alert.opened` until then; null or in the past: not silenced. */
            silencedUntil: string | null;
            /** @description The alert that is open. */
            openAlertId: string | null;
            /** @description The last evaluation, of which `value` and `baseline` are. */
            evaluatedAt: string | null;
            /** @description The last evaluation, if it failed. It is tried again each minute. */
            failedAt: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        AlertRuleInput: {
            name: string;
            /**
             * @description error_rate: failed calls. latency: the 95th percentile. spend: the cost.
             * @enum {string}
             */
            metric: "error_rate" | "latency" | "spend";
            /** @description Smaller values do not meet the rule. Percent for error_rate, milliseconds for latency, US cents for spend. */
            atLeast: number;
            /** Format: uuid */
            projectId?: string;
            /** Format: uuid */
            agentId?: string;
            /**
             * @description How many hours are measured, the current one included. Default 1.
             * @default 1
             */
            windowHours?: number;
            /**
             * @description How much more than in the same hours of last week. Default 50.
             * @default 50
             */
            increasePercent?: number;
        };
        AlertRuleList: {
            rules: components["schemas"]["AlertRule"][];
            total: number;
            limit: number;
            offset: number;
        };
        AlertRulePatch: {
            name?: string;
            /** @description Smaller values do not meet the rule. Percent for error_rate, milliseconds for latency, US cents for spend. */
            atLeast?: number;
            /** @description How many hours are measured, the current one included. Default 1. */
            windowHours?: number;
            /** @description How much more than in the same hours of last week. Default 50. */
            increasePercent?: number;
            /** @description false: not evaluated. Its open alert is resolved without an event. */
            enabled?: boolean;
            /** @description At most 30 days from now; null ends the silence. */
            silencedUntil?: string | null;
        };
        AlertRuleReply: {
            rule: components["schemas"]["AlertRule"];
        };
        ApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The first characters of the token, to recognize it. */
            keyPrefix: string;
            /** @enum {string} */
            scope: "agent" | "project" | "org";
            /** Format: date-time */
            createdAt: string;
            /** @enum {string} */
            status: "active" | "expired" | "revoked";
            /**
             * Format: uuid
             * @description Null unless the scope is agent.
             */
            agentId: string | null;
            agentName: string | null;
            /**
             * Format: uuid
             * @description Null when the scope is org.
             */
            projectId: string | null;
            /**
             * Format: uuid
             * @description Id of the key that replaces this one, which expires at expiresAt.
             */
            replacedBy: string | null;
            /** Format: date-time */
            lastUsedAt: string | null;
            /** Format: date-time */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description The user that created it; null: unknown.
             */
            createdBy: string | null;
        };
        ApiKeyCreatedReply: {
            key: {
                /** Format: uuid */
                id: string;
                name: string;
                /** @description The first characters of the token, to recognize it. */
                keyPrefix: string;
                /** @enum {string} */
                scope: "agent" | "project" | "org";
                /** Format: date-time */
                createdAt: string;
            };
            /** @description The gateway token. It is returned only once. */
            secretKey: string;
        };
        ApiKeyDetails: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The first characters of the token, to recognize it. */
            keyPrefix: string;
            /** @enum {string} */
            scope: "agent" | "project" | "org";
            /** Format: date-time */
            createdAt: string;
            /** @enum {string} */
            status: "active" | "expired" | "revoked";
            /**
             * Format: uuid
             * @description Null unless the scope is agent.
             */
            agentId: string | null;
            agentName: string | null;
            /**
             * Format: uuid
             * @description Null when the scope is org.
             */
            projectId: string | null;
            /**
             * Format: uuid
             * @description Id of the key that replaces this one, which expires at expiresAt.
             */
            replacedBy: string | null;
            /** Format: date-time */
            lastUsedAt: string | null;
            /** Format: date-time */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description The user that created it; null: unknown.
             */
            createdBy: string | null;
            /** Format: date-time */
            revokedAt: string | null;
        };
        ApiKeyDetailsReply: {
            key: components["schemas"]["ApiKeyDetails"];
        };
        ApiKeyInput: {
            name: string;
            /**
             * @default agent
             * @enum {string}
             */
            scope?: "agent" | "project" | "org";
            /** Format: uuid */
            agentId?: string;
            /** Format: uuid */
            projectId?: string;
            /** Format: date-time */
            expiresAt?: string | null;
        };
        ApiKeyList: {
            keys: components["schemas"]["ApiKey"][];
            total: number;
            limit: number;
            offset: number;
        };
        ApiKeyPatch: {
            name?: string;
            /** Format: date-time */
            expiresAt?: string | null;
        };
        ApiKeyReply: {
            key: components["schemas"]["ApiKey"];
        };
        ApiKeyRevoked: {
            /** @constant */
            revoked: true;
        };
        ApproveDeviceInput: {
            /** @description The code that the user types. Never put it into a link. */
            userCode: string;
            /** Format: uuid */
            orgId: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
        };
        ArchiveReply: {
            /** @description False: the operator has set no ARCHIVE_URL. */
            enabled: boolean;
            days: {
                /** Format: date */
                day: string;
                /** @description Usage records. */
                rows: number;
                /** @description Their cost. */
                costCents: number;
                files: number;
                bytes: number;
                /**
                 * Format: date-time
                 * @description When all files were read back.
                 */
                verifiedAt: string;
            }[];
            total: number;
            limit: number;
            offset: number;
        };
        ArchiveVerifyInput: {
            /** Format: date */
            day: string;
        };
        ArchiveVerifyReply: {
            /** Format: date */
            day: string;
            ok: boolean;
            /**
             * @description `differs`: files or manifest are missing or changed, or the ledger has other records. `unreadable`: the storage is away, which says nothing about the day.
             * @enum {string}
             */
            state: "verified" | "differs" | "unreadable";
            /** @description What is wrong; null: nothing. */
            problem: string | null;
        };
        AttentionReply: {
            attention: {
                /** @enum {string} */
                kind: "sensitive_call" | "circuit_open" | "alert_open" | "budget" | "reconnect_needed" | "needs_credentials" | "webhook_failing" | "key_expiring" | "key_unused" | "no_budget";
                total: number;
                /** @description The five most urgent items. */
                things: {
                    /** @description Id of the agent, alert, account, shared credential, endpoint or key; for a provider its slug. */
                    id: string;
                    /** @description The name; for an endpoint its URL, for an alert its rule. */
                    name: string;
                    /** @description The agent to which the item belongs; null if it does not belong to one agent. */
                    agentId: string | null;
                    /** @description The name of that agent. */
                    agentName: string | null;
                    /** @description The provider, if the item concerns one. */
                    providerSlug: string | null;
                    /** @description Since when; for an expiring key, when it expires. Null if not known. */
                    at: string | null;
                    /** @description Spend of the calendar month in US cents; only for agents. */
                    monthCents: number | null;
                    /** @description Monthly budget in US cents; only for agents. */
                    budgetCents: number | null;
                    /** @description True for an endpoint to which deliveries are paused. */
                    paused: boolean;
                    /** @description Origin of a breaker, for `PUT /v1/circuits`. */
                    origin: string | null;
                    /** @description State of a breaker; it is listed until it is CLOSED. */
                    circuitState: ("OPEN" | "HALF_OPEN") | null;
                    /** @description Number of agents that a breaker concerns. */
                    agents: number | null;
                    /** @description The last rejected sensitive call: provider, method and path. */
                    call: string | null;
                    /** @description Number of recorded sensitive calls with this key within seven days. */
                    calls: number | null;
                    /** @description What an alert measures. */
                    metric: ("error_rate" | "latency" | "spend") | null;
                    /** @description Network from which the last of them came. */
                    clientNetwork: string | null;
                }[];
            }[];
        };
        AuditEntry: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            at: string;
            actor: {
                /** @description Null when the service itself acted. */
                userId: string | null;
                email: string;
            } | {
                /** Format: uuid */
                tokenId: string;
                /** @description Name of the management token. */
                name: string;
            };
            action: string;
            target: {
                type: string;
                id: string;
                /** @description Present name; null for a deleted target and for a type without a name. */
                name: string | null;
            };
            ip: string;
            /** @description Field → [before, after]. Secrets show as [secret]. */
            changes: {
                [key: string]: unknown[];
            };
        };
        AuditEntryData: {
            id: string;
            orgId: string;
            /** @description Instant of the entry, ISO 8601. */
            at: string;
            /** @description For example agent.update. */
            action: string;
            actorUserId: string | null;
            /** @description Empty for a management token. */
            actorEmail: string;
            actorTokenId: string | null;
            actorTokenName: string | null;
            targetType: string;
            targetId: string;
            ip: string;
            changes: {
                [key: string]: unknown[];
            } | null;
        };
        AuditEntryEvent: {
            /** @constant */
            event: "audit.entry";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["AuditEntryData"];
        };
        AuditList: {
            entries: components["schemas"]["AuditEntry"][];
            total: number;
            limit: number;
            offset: number;
        };
        BillingAccountInput: {
            /** @enum {string} */
            api: "openai" | "anthropic" | "openrouter";
            name: string;
            /** @description OpenAI: `sk-admin-…`. Anthropic: `sk-ant-admin…`. OpenRouter: a management key. Never shown again. */
            adminKey: string;
            /** @description The custom provider that calls OpenRouter. Left out for a built-in provider. */
            providerSlug?: string;
            alertCents?: number;
        };
        BillingAccountPatch: {
            name?: string;
            /** @description OpenAI: `sk-admin-…`. Anthropic: `sk-ant-admin…`. OpenRouter: a management key. Never shown again. */
            adminKey?: string;
            alertCents?: number;
        };
        BillingAccountReply: {
            account: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                api: "openai" | "anthropic" | "openrouter";
                /** @description The provider whose calls are compared. */
                providerSlug: string;
                name: string;
                /** @description Unattributed cost of a key and day that causes `credential.used_elsewhere`. */
                alertCents: number;
                /** @description Last check that succeeded; null: none. */
                checkedAt: string | null;
                /** @description Why the last check failed; null: it succeeded. */
                problem: string | null;
                /** Format: date-time */
                createdAt: string;
            };
        };
        BillingReport: {
            /** @description UTC month, `YYYY-MM`. */
            month: string;
            accounts: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                api: "openai" | "anthropic" | "openrouter";
                /** @description The provider whose calls are compared. */
                providerSlug: string;
                name: string;
                /** @description Unattributed cost of a key and day that causes `credential.used_elsewhere`. */
                alertCents: number;
                /** @description Last check of the month that succeeded; null: none. */
                checkedAt: string | null;
                /** @description Why the last check failed; null: it succeeded. */
                problem: string | null;
                /** Format: date-time */
                createdAt: string;
                /**
                 * @description The most urgent state of the lines. `unchecked`: no check of the month has succeeded. `adjusted`: adjustments cover the difference.
                 * @enum {string}
                 */
                state: "match" | "pending" | "drift" | "unbilled" | "ambiguous" | "unattributed" | "unchecked" | "adjusted";
                /** @description Booked by the gateway. */
                ourCents: number;
                /** @description Reported by the provider. */
                theirCents: number;
                /** @description `theirCents` minus `ourCents`: the sum of the five causes. */
                differenceCents: number;
                /** @description Billed calls that failed at the gateway. */
                failureCents: number;
                /** @description Calls that the gateway did not make. */
                unattributedCents: number;
                /** @description Calls that the gateway did not make, of one of several keys that the provider shows alike. */
                ambiguousCents: number;
                /** @description Booked calls that the provider does not bill; 0 or negative. */
                unbilledCents: number;
                /** @description The same tokens at another price. */
                priceCents: number;
                /** @description The part of `unbilledCents` that the provider may still report; 0 or negative. */
                pendingCents: number;
                /** @description Cost of keys that no account of the organization holds. Not part of `theirCents`. */
                otherKeysCents: number;
                /** @description Accepted differences of the month. */
                adjustmentCents: number;
                /** @description `differenceCents` minus `adjustmentCents`. */
                openCents: number;
            }[];
            drifts: {
                /** Format: uuid */
                accountId: string;
                providerSlug: string;
                model: string;
                /**
                 * Format: date
                 * @description First day of the month with this price.
                 */
                since: string;
                prices: {
                    /** @description The field of PRICES_FILE. */
                    field: string;
                    ourUsdPerMTok: number;
                    theirUsdPerMTok: number;
                }[];
                /** @description The entry of PRICES_FILE that removes the difference. */
                pricesFile: string;
            }[];
            adjustments: {
                /** Format: uuid */
                id: string;
                /** Format: uuid */
                accountId: string;
                /** @description UTC month, `YYYY-MM`. */
                month: string;
                /** @description Accepted difference. */
                amountCents: number;
                reason: string;
                createdBy: string;
                /** Format: date-time */
                createdAt: string;
            }[];
        };
        Breakdown: {
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            from: string;
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            to: string;
            /**
             * @description One of project, agent, provider, model, tool, key, status, reason, or tag: and the key of a tag, such as tag:customer.
             * @example model
             * @example tag:customer
             */
            by: string;
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            previousFrom?: string;
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            previousTo?: string;
            /** @description Sums of all rows, not only of this page. Absent by status and reason. */
            totals?: {
                requests: number;
                errors: number;
                tokensIn: number;
                tokensOut: number;
                /** @description US cents, not rounded. */
                costCents: number;
                /** @description US dollars, rounded to six decimals. */
                costUsd: number;
                avgLatency: number;
                /** @description Present with compare=previous; from `previousFrom` to `previousTo`. */
                previous?: {
                    requests: number;
                    /** @description US cents, not rounded. */
                    costCents: number;
                    /** @description US dollars, rounded to six decimals. */
                    costUsd: number;
                };
            };
            rows: {
                /** @description Slug, model, id, status or rejection reason. Empty or the nil UUID if unknown. */
                value: string;
                name: string | null;
                /** @description Value of the second dimension; present with thenBy. */
                thenValue?: string;
                thenName?: string | null;
                requests: number | null;
                errors: number | null;
                tokensIn: number | null;
                tokensOut: number | null;
                costCents: number | null;
                costUsd: number | null;
                avgLatency: number | null;
                rejectedRequests: number | null;
                /** @description Present with compare=previous; from `previousFrom` to `previousTo`. */
                previous?: {
                    requests: number;
                    /** @description US cents, not rounded. */
                    costCents: number;
                    /** @description US dollars, rounded to six decimals. */
                    costUsd: number;
                };
            }[];
            total: number;
            limit: number;
            offset: number;
        };
        BrowserLoginInput: {
            /** Format: email */
            email?: string;
            password?: string;
            /** @description The 6 digits that the authenticator app shows, or a recovery code. Each code works once. */
            code?: string;
        };
        BudgetExceededData: {
            budgetId: string;
            /** @enum {string} */
            scope: "agent" | "project" | "org";
            scopeId: string;
            scopeName: string;
            /** @enum {string} */
            window: "day" | "week" | "month" | "total";
            /** @description Instance of the window: 2026-11-28, 2026-W48, 2026-11 or total. */
            period: string;
            budgetCents: number;
            spentCents: number;
            /** @enum {string} */
            mode: "soft" | "hard" | "audit";
            models?: string[];
            tag?: string;
            /** @description Of the scope agent. */
            agentId?: string;
            agentName?: string;
            orgId: string;
        };
        BudgetExceededEvent: {
            /** @constant */
            event: "budget.exceeded";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["BudgetExceededData"];
        };
        BudgetRow: {
            /**
             * Format: uuid
             * @description Missing in the plain monthly row.
             */
            id?: string;
            /**
             * @description In UTC; a week begins on Monday. total: all time.
             * @enum {string}
             */
            window: "day" | "week" | "month" | "total";
            /** @description US cents per window. */
            cents: number;
            /** @description Counts calls of these models only; * matches any number of characters. Empty: all models. A call that names no model counts. */
            models: string[];
            /** @description Counts calls with this tag only, as key=value of the header x-gateway-tag. */
            tag?: string;
            /**
             * @description soft: calls pass until the budget is spent. hard: a call passes only if its maximum cost fits into the rest. audit: counted, and never rejects.
             * @enum {string}
             */
            mode: "soft" | "hard" | "audit";
            /** @description Spend of the current window in the ledger, US cents. */
            spentCents: number;
            /** @description When the next window begins; null: never. */
            resetAt: string | null;
        };
        BudgetRowInput: {
            /** Format: uuid */
            id?: string;
            /**
             * @description In UTC; a week begins on Monday. total: all time.
             * @enum {string}
             */
            window: "day" | "week" | "month" | "total";
            /** @description US cents per window. */
            cents: number;
            /** @description Counts calls of these models only; * matches any number of characters. Empty: all models. A call that names no model counts. */
            models?: string[];
            /** @description Counts calls with this tag only, as key=value of the header x-gateway-tag. */
            tag?: string;
            /**
             * @description soft: calls pass until the budget is spent. hard: a call passes only if its maximum cost fits into the rest. audit: counted, and never rejects.
             * @enum {string}
             */
            mode?: "soft" | "hard" | "audit";
        };
        BudgetThresholdData: {
            budgetId: string;
            /** @enum {string} */
            scope: "agent" | "project" | "org";
            scopeId: string;
            scopeName: string;
            /** @enum {string} */
            window: "day" | "week" | "month" | "total";
            /** @description Instance of the window: 2026-11-28, 2026-W48, 2026-11 or total. */
            period: string;
            budgetCents: number;
            spentCents: number;
            /** @enum {string} */
            mode: "soft" | "hard" | "audit";
            models?: string[];
            tag?: string;
            /** @description Of the scope agent. */
            agentId?: string;
            agentName?: string;
            orgId: string;
            thresholdPercent: number;
        };
        BudgetThresholdEvent: {
            /** @constant */
            event: "budget.threshold";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["BudgetThresholdData"];
        };
        Call: {
            /**
             * Format: uuid
             * @description Id of the call.
             */
            id: string;
            /**
             * Format: uuid
             * @description The same id, as in the response header x-gateway-request-id.
             */
            requestId: string;
            /**
             * Format: date-time
             * @description Start of the call.
             */
            createdAt: string;
            /**
             * Format: uuid
             * @description The agent.
             */
            agentId: string;
            /**
             * Format: uuid
             * @description The gateway token.
             */
            keyId: string;
            /** @description The provider. */
            providerSlug: string;
            /**
             * Format: uuid
             * @description The provider account.
             */
            accountId: string;
            /** @description HTTP method. */
            method: string;
            /** @description Path at the provider without its query, at most 1024 characters. */
            path: string;
            /** @description Status that the agent received. */
            status: number;
            /** @description Class of the error, such as `timeout` or `client_aborted`; null: none. */
            error: string | null;
            /** @description The model, as the provider names it; null: none. */
            model: string | null;
            /** @description Sum of uncached input, cache reads and cache writes. */
            tokensIn: number;
            /** @description Output tokens, reasoning included. */
            tokensOut: number;
            /** @description Part of tokensIn that the provider read from its cache. */
            tokensCacheRead: number;
            /** @description Part of tokensIn that the provider wrote to its cache. */
            tokensCacheWrite: number;
            /** @description Part of tokensOut. */
            tokensReasoning: number;
            /** @description US cents, not rounded. */
            costCents: number;
            /** @description Source of the tokens: `reported`, `estimated`, `partial` or `none`. */
            usageSource: string;
            /** @description Source of the price: `library`, `override`, `fallback`, `per_request` or `none`. */
            priceSource: string;
            /** @description Milliseconds from the start to the end of the response. */
            durationMs: number;
            /** @description Milliseconds from the start to the head of the provider’s response; null: it sent none. */
            ttfbMs: number | null;
            /** @description Bytes of the request body. */
            bytesIn: number;
            /** @description Bytes of the response body. */
            bytesOut: number;
            /** @description Whether the response was a stream. */
            streamed: boolean;
            /** @description The data plane that forwarded the call. */
            dataPlaneId: string;
            /** @description Cost that the provider itself states in its response, US cents, not rounded; null: it states none. */
            statedCostCents: number | null;
            /** @description Tool of an MCP server that the call names; null: none. */
            tool: string | null;
            /** @description Tags that the caller stated, `key=value`, sorted, separated by commas; null: none. */
            tags: string | null;
            /** @description The run whose key made the call; null: none. */
            runId: string | null;
            /** @description Limits in audit mode that would have rejected the call, such as `rpm` or `budget:<id>`; null: none. */
            wouldReject: string | null;
            agentName: string | null;
            projectName: string | null;
            keyName: string | null;
            /** @description Status of the provider response. 0: the provider sent none. */
            upstreamStatus: number;
            websocket: boolean;
            projectId: string | null;
            keyPrefix: string | null;
        };
        CallCheckInput: {
            providerSlug: string;
            /** @description Method and path at the provider, with its query if there is one. */
            call: string;
            /** @description The model that the body would name. */
            model?: string;
            /** @description By provider slug; a provider that is not listed is not allowed. Null: all calls are allowed. */
            policy?: {
                [key: string]: {
                    /** @description A method or *, a space, and a path of the provider. * matches any characters within one segment, ** any number of segments including none. Example: GET /v1/models/** */
                    calls?: string[];
                    models?: {
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        allow?: string[];
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Tools of an MCP server. deny wins. Without allow, all that are not denied. */
                    tools?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Resources of an MCP server. deny wins. Without allow, all that are not denied. */
                    resources?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Prompts of an MCP server. deny wins. Without allow, all that are not denied. */
                    prompts?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Limits for tools of an MCP server, beside those of the agent. The first entry that matches counts; all tools that match share it. */
                    toolLimits?: {
                        /** @description Name of a tool, case-insensitive; * matches any number of characters. */
                        tool: string;
                        /** @description Requests in any 60 seconds. */
                        rpm: number;
                    }[];
                };
            } | null;
        };
        CallCheckReply: {
            /** @description Whether the call would pass. Limits, budgets and circuit breakers are not checked. */
            allowed: boolean;
            /** @description Why the gateway would reject it; null when it would pass. */
            reason: ("paused" | "revoked" | "unknown_provider" | "not_assigned" | "needs_credentials" | "sensitive_path" | "opaque" | "denied_call" | "denied_model") | null;
        };
        CallReply: {
            log: components["schemas"]["Call"];
        };
        CallsRejectedData: {
            orgId: string;
            /** @description Start of a minute, ISO 8601. */
            firstMinute: string;
            /** @description Start of a minute, ISO 8601. */
            lastMinute: string;
            /** @description Rejected calls, with those that `rejections` leaves out. */
            count: number;
            /** @description Rejected calls that `rejections` leaves out. */
            omitted: number;
            /** @description One for each agent, provider and reason, the highest count first. */
            rejections: {
                agentId: string;
                agentName: string | null;
                /** @description Null: rejected before the provider was known. */
                providerSlug: string | null;
                reason: string;
                count: number;
                /** @description Start of a minute, ISO 8601. */
                firstMinute: string;
                /** @description Start of a minute, ISO 8601. */
                lastMinute: string;
                lastCall: {
                    id: string;
                    rejectedAt: string;
                    keyId: string;
                    status: number;
                    method: string;
                    /** @description Without the query. */
                    path: string;
                    model: string | null;
                    tool: string | null;
                    clientNetwork: string;
                    budgetId: string | null;
                } | null;
            }[];
        };
        CallsRejectedEvent: {
            /** @constant */
            event: "calls.rejected";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CallsRejectedData"];
        };
        CallsReply: {
            logs: components["schemas"]["Call"][];
            total: number;
            limit: number;
            offset: number;
            /** @description True if there may be more matches than `total`. */
            totalCapped: boolean;
            /** @description Calls before this time were not searched; use it as endTime of the next request. Null: the whole range was searched. */
            searchedFrom: string | null;
        };
        ChangePasswordInput: {
            currentPassword: string;
            newPassword: string;
        };
        CheckInput: {
            /** @description UTC month, `YYYY-MM`. */
            month?: string;
        };
        CodeInput: {
            /** @description The 6 digits that the authenticator app shows, or a recovery code. Each code works once. */
            code: string;
        };
        CompareReply: {
            /** @description Null if the request gave start or end. */
            period: ("24h" | "7d" | "30d" | "90d") | null;
            /** @description Present if series was requested: starts of the buckets, oldest first. */
            buckets?: string[];
            agents: components["schemas"]["ComparedAgent"][];
        };
        ComparedAgent: {
            /** Format: uuid */
            agentId: string;
            agentName: string;
            /** @description Null if the request gave start or end. */
            period: ("24h" | "7d" | "30d" | "90d") | null;
            totalRequests: number;
            errorRate: number;
            p50Latency: number;
            p95Latency: number;
            costCents: number;
            /** @description US dollars, rounded to six decimals. */
            costUsd: number;
            budgetCents: number | null;
            budgetUsd: number | null;
            burnRateCentsPerHour: number;
            projectedMonthlyCents: number;
            /** @description US dollars, rounded to six decimals. */
            projectedMonthlyUsd: number;
            daysUntilBudget: number | null;
            rejectedRequests: number;
            series?: components["schemas"]["AgentSeries"];
        };
        ConnectReply: {
            /** @description Where the browser goes next. It must be the one that sent the request. */
            url: string;
        };
        ConnectionInput: {
            redirectPath: string;
            state: string;
            code?: string;
            iss?: string;
            error?: string;
        };
        ConnectionReply: {
            /** @constant */
            ok: true;
            /**
             * Format: uuid
             * @description The connected account; null: a shared credential was connected.
             */
            accountId: string | null;
            /**
             * Format: uuid
             * @description The connected shared credential.
             */
            credentialId: string | null;
        };
        CreatedItems: {
            items: {
                /**
                 * @description Management tokens end with the membership in any case.
                 * @enum {string}
                 */
                kind: "api_key" | "webhook" | "management_token" | "run" | "scim_token" | "trust_rule";
                /** Format: uuid */
                id: string;
                name: string;
                detail: string;
                /** Format: date-time */
                createdAt: string;
            }[];
            /** @description The list has at most 200 of them. */
            total: number;
        };
        CredentialAcceptedData: {
            providerSlug: string;
            /** @description Null for a shared credential. */
            accountId: string | null;
            /** @description Id of the shared credential; null for the credential of an account. */
            credentialId: string | null;
            agentId: string | null;
            orgId: string;
        };
        CredentialAcceptedEvent: {
            /** @constant */
            event: "credential.accepted";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CredentialAcceptedData"];
        };
        CredentialRefreshFailedData: {
            providerSlug: string;
            /** @description Null for a shared credential. */
            accountId: string | null;
            /** @description Id of the shared credential; null for the credential of an account. */
            credentialId: string | null;
            agentId: string | null;
            orgId: string;
            /** @description Code of the cause. */
            reason: string;
            /** @description Error code of the token endpoint. */
            detail: string | null;
        };
        CredentialRefreshFailedEvent: {
            /** @constant */
            event: "credential.refresh_failed";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CredentialRefreshFailedData"];
        };
        CredentialRefreshedData: {
            providerSlug: string;
            /** @description Null for a shared credential. */
            accountId: string | null;
            /** @description Id of the shared credential; null for the credential of an account. */
            credentialId: string | null;
            agentId: string | null;
            orgId: string;
        };
        CredentialRefreshedEvent: {
            /** @constant */
            event: "credential.refreshed";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CredentialRefreshedData"];
        };
        CredentialRefusedData: {
            providerSlug: string;
            /** @description Null for a shared credential. */
            accountId: string | null;
            /** @description Id of the shared credential; null for the credential of an account. */
            credentialId: string | null;
            agentId: string | null;
            orgId: string;
        };
        CredentialRefusedEvent: {
            /** @constant */
            event: "credential.refused";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CredentialRefusedData"];
        };
        CredentialRetiredData: {
            providerSlug: string;
            /** @description Null for a shared credential. */
            accountId: string | null;
            /** @description Id of the shared credential; null for the credential of an account. */
            credentialId: string | null;
            agentId: string | null;
            orgId: string;
            /** @description An admin has marked the previous credential as compromised. */
            compromised: boolean;
        };
        CredentialRetiredEvent: {
            /** @constant */
            event: "credential.retired";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CredentialRetiredData"];
        };
        CredentialRolledBackData: {
            providerSlug: string;
            /** @description Null for a shared credential. */
            accountId: string | null;
            /** @description Id of the shared credential; null for the credential of an account. */
            credentialId: string | null;
            agentId: string | null;
            orgId: string;
            /** @description An admin has marked the previous credential as compromised. */
            compromised: boolean;
        };
        CredentialRolledBackEvent: {
            /** @constant */
            event: "credential.rolled_back";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CredentialRolledBackData"];
        };
        CredentialRotatedData: {
            providerSlug: string;
            /** @description Null for a shared credential. */
            accountId: string | null;
            /** @description Id of the shared credential; null for the credential of an account. */
            credentialId: string | null;
            agentId: string | null;
            orgId: string;
            /** @description An admin has marked the previous credential as compromised. */
            compromised: boolean;
        };
        CredentialRotatedEvent: {
            /** @constant */
            event: "credential.rotated";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CredentialRotatedData"];
        };
        CredentialRotationFailedData: {
            providerSlug: string;
            /** @description Null for a shared credential. */
            accountId: string | null;
            /** @description Id of the shared credential; null for the credential of an account. */
            credentialId: string | null;
            agentId: string | null;
            orgId: string;
        };
        CredentialRotationFailedEvent: {
            /** @constant */
            event: "credential.rotation_failed";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CredentialRotationFailedData"];
        };
        CredentialUsedElsewhereData: {
            providerSlug: string;
            /** @description The key as the provider shows it. */
            keyLabel: string;
            day: string;
            unattributedCents: number;
            orgId: string;
        };
        CredentialUsedElsewhereEvent: {
            /** @constant */
            event: "credential.used_elsewhere";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["CredentialUsedElsewhereData"];
        };
        /** @description The provider’s own fields; write-only, stored encrypted. */
        CredentialsInput: {
            [key: string]: unknown;
        };
        CustomProviderInput: {
            /** @description 2 to 40 characters of a-z, 0-9 and -. */
            slug: string;
            displayName: string;
            baseUrl?: string;
            /** @enum {string} */
            authType?: "bearer" | "header" | "basic" | "query" | "none";
            /** @description Name of the header or query parameter; for authType header and query. */
            authName?: string | null;
            /** @description Stands before the key as it is, with its space; for authType header. */
            authPrefix?: string | null;
            /** @enum {string|null} */
            usageFormat?: "openai" | "anthropic" | null;
            /** @description A method or *, a space, and a path of the provider. * matches any characters within one segment, ** any number of segments including none. Example: GET /v1/models/** */
            sensitivePaths?: string[];
            /** @description The provider in the format of provider files (docs/providers.md), without slug, name, category, docs, prices, sdk, tests and reviewed. Instead of all other fields but slug and displayName. */
            definition?: {
                [key: string]: unknown;
            };
        };
        CustomProviderPut: {
            /** @description 2 to 40 characters of a-z, 0-9 and -. */
            slug?: string;
            displayName?: string;
            baseUrl?: string;
            /** @enum {string} */
            authType?: "bearer" | "header" | "basic" | "query" | "none";
            /** @description Name of the header or query parameter; for authType header and query. */
            authName?: string | null;
            /** @description Stands before the key as it is, with its space; for authType header. */
            authPrefix?: string | null;
            /** @enum {string|null} */
            usageFormat?: "openai" | "anthropic" | null;
            /** @description A method or *, a space, and a path of the provider. * matches any characters within one segment, ** any number of segments including none. Example: GET /v1/models/** */
            sensitivePaths?: string[];
            /** @description The provider in the format of provider files (docs/providers.md), without slug, name, category, docs, prices, sdk, tests and reviewed. Instead of all other fields but slug and displayName. */
            definition?: {
                [key: string]: unknown;
            };
        };
        CustomProviderReply: {
            provider: components["schemas"]["CustomProviderView"];
        };
        CustomProviderView: {
            /** Format: uuid */
            id: string;
            slug: string;
            displayName: string;
            /** @description Null when each account has its own URL. */
            baseUrl: string | null;
            authType: string;
            authName: string | null;
            authPrefix: string | null;
            usageFormat: string | null;
            /** @description Calls that are rejected unless the account allows them. */
            sensitivePaths: string[];
            /** @description The fields of `credentials` of its accounts; empty: no credentials. */
            credentialFields: {
                name: string;
                label: string;
                required: boolean;
                /** @description Whether the form hides the input. */
                secret: boolean;
                /** @enum {string} */
                kind: "text" | "url" | "region" | "private_key" | "google_key";
                /** @description What a value looks like. */
                placeholder: string | null;
                /** @description What to enter, or where to find the value. */
                hint: string | null;
                /** @description What a value must look like; others are rejected. */
                looksLike: string | null;
                /** @description The allowed values; null: any. */
                values: string[] | null;
            }[];
            /** @description Ways in which the gateway mints the credential, instead of credentialFields. */
            methods: {
                /** @description Accounts state it as `method` in their credentials. */
                name: string;
                label: string;
                hint: string | null;
                kind: string;
                docs: string | null;
                fields: {
                    name: string;
                    label: string;
                    required: boolean;
                    /** @description Whether the form hides the input. */
                    secret: boolean;
                    /** @enum {string} */
                    kind: "text" | "url" | "region" | "private_key" | "google_key";
                    /** @description What a value looks like. */
                    placeholder: string | null;
                    /** @description What to enter, or where to find the value. */
                    hint: string | null;
                    /** @description What a value must look like; others are rejected. */
                    looksLike: string | null;
                    /** @description The allowed values; null: any. */
                    values: string[] | null;
                }[];
            }[];
            /** @enum {string|null} */
            category: "model" | "storage" | "database" | "hosting" | "email" | "saas" | null;
            /** @description Address of the vendor’s reference. */
            docs: string | null;
            /** @description Names of the origins; the path of one beside default is /v1/proxy/{slug}:{origin}/…. */
            origins: string[];
            /** @description Calls whose path does not say what they do; rejected unless the account allows them. */
            opaqueCalls: {
                call: string;
                why: string | null;
            }[];
            /** @description Allow-lists for the calls of a policy. */
            presets: {
                name: string;
                calls: string[];
                /** @description The least scopes that the credential needs. */
                scopes: string | null;
            }[];
            /** @description How the provider was defined; null for a built-in provider and for the short form. */
            definition: {
                [key: string]: unknown;
            } | null;
            builtIn: boolean;
            /** Format: date-time */
            createdAt: string;
        };
        Deleted: {
            /** @constant */
            deleted: true;
        };
        DeletionInput: {
            /** @description The password of the user, required again. */
            password: string;
        };
        Delivery: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            endpointId: string;
            /** @enum {string} */
            event: "agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected";
            /** @enum {string} */
            status: "pending" | "success" | "failed";
            statusCode: string | null;
            error: string | null;
            attempts: number;
            lastAttemptAt: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        DeliveryDetail: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            endpointId: string;
            /** @enum {string} */
            event: "agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected";
            /** @enum {string} */
            status: "pending" | "success" | "failed";
            statusCode: string | null;
            error: string | null;
            attempts: number;
            lastAttemptAt: string | null;
            /** Format: date-time */
            createdAt: string;
            payload: {
                /** @enum {string} */
                event: "agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected";
                /** Format: date-time */
                timestamp: string;
                data: {
                    [key: string]: unknown;
                };
            };
            /** @description The newest ten attempts, the oldest first. */
            attemptLog: {
                /** Format: date-time */
                at: string;
                statusCode: string | null;
                error: string | null;
                durationMs: number;
                responseBody: string | null;
            }[];
        };
        DeliveryDetailReply: {
            delivery: components["schemas"]["DeliveryDetail"];
        };
        DeliveryList: {
            deliveries: components["schemas"]["Delivery"][];
            total: number;
            limit: number;
            offset: number;
        };
        DeliveryReply: {
            delivery: components["schemas"]["Delivery"];
        };
        DomainInput: {
            domain: string;
        };
        DomainReply: {
            domain: components["schemas"]["SsoDomain"];
        };
        Endpoint: {
            /** Format: uuid */
            id: string;
            /** @description Of Slack and Teams only the host: the path is their secret. */
            url: string;
            /**
             * @description What the receiver reads: the signed event (webhook), or a message for an incoming webhook of Slack or Teams.
             * @enum {string}
             */
            kind: "webhook" | "slack" | "teams";
            events: ("agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected")[];
            /** @enum {string} */
            status: "active" | "paused";
            /** @description failing: every attempt failed for 3 days and at least 50 times. Set `status` to `active` to resume. */
            pausedReason: "failing" | null;
            /**
             * Format: date-time
             * @description Until this time deliveries are also signed with the previous secret.
             */
            previousSecretUntil: string | null;
            failingSince: string | null;
            /** @description Counts of the newest 50 deliveries; failed includes those that wait for a retry. */
            recent: {
                delivered: number;
                failed: number;
                pending: number;
            };
            /** Format: date-time */
            createdAt: string;
        };
        EndpointCreated: {
            endpoint: {
                /** Format: uuid */
                id: string;
                /** @description Of Slack and Teams only the host: the path is their secret. */
                url: string;
                /**
                 * @description What the receiver reads: the signed event (webhook), or a message for an incoming webhook of Slack or Teams.
                 * @enum {string}
                 */
                kind: "webhook" | "slack" | "teams";
                events: ("agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected")[];
                /** @enum {string} */
                status: "active" | "paused";
                /** @description failing: every attempt failed for 3 days and at least 50 times. Set `status` to `active` to resume. */
                pausedReason: "failing" | null;
                /**
                 * Format: date-time
                 * @description Until this time deliveries are also signed with the previous secret.
                 */
                previousSecretUntil: string | null;
                failingSince: string | null;
                /** @description Counts of the newest 50 deliveries; failed includes those that wait for a retry. */
                recent: {
                    delivered: number;
                    failed: number;
                    pending: number;
                };
                /** Format: date-time */
                createdAt: string;
                /** @description Signs every delivery. Only this response contains it. */
                secret: string;
            };
        };
        EndpointDeleted: {
            /** @constant */
            deleted: true;
        };
        EndpointInput: {
            url: string;
            events: ("agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected")[];
            /**
             * @description What the receiver reads: the signed event (webhook), or a message for an incoming webhook of Slack or Teams.
             * @enum {string}
             */
            kind?: "webhook" | "slack" | "teams";
        };
        EndpointList: {
            endpoints: components["schemas"]["Endpoint"][];
            total: number;
            limit: number;
            offset: number;
        };
        EndpointPatch: {
            url?: string;
            events?: ("agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected")[];
            /** @enum {string} */
            status?: "active" | "paused";
        };
        EndpointReply: {
            endpoint: components["schemas"]["Endpoint"];
        };
        ErrorReply: {
            error: string;
        };
        EventList: {
            events: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                event: "agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected";
                /** Format: date-time */
                occurredAt: string;
                /** @description The same `data` that webhook deliveries contain. */
                data: {
                    [key: string]: unknown;
                };
            }[];
            total: number;
            limit: number;
            offset: number;
        };
        EventTypeList: {
            types: {
                /** @enum {string} */
                event: "agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected";
                title: string;
                /** @description What happened, and how often the event is sent. */
                description: string;
                /**
                 * @description info: a change by the users themselves. notice: a recovery. warning: look soon. critical: calls or deliveries fail until a person acts.
                 * @enum {string}
                 */
                severity: "info" | "notice" | "warning" | "critical";
                /** @description Only webhook endpoints get it: it is not listed, and not mailed. */
                webhooksOnly: boolean;
                /** @description Sample `data`, as POST /v1/webhooks/{id}/test sends it. */
                sample: {
                    [key: string]: unknown;
                };
            }[];
        };
        ExportAgentCallsReply: components["schemas"]["LogRecord"][];
        GetConfigReply: {
            version: string;
            /** @description The base URL for the calls of agents; null when the operator has not set it. */
            proxyUrl: string | null;
            publicUrl: string;
            /**
             * @description first: only the first user of this installation can sign up, and there is no user yet.
             * @enum {string}
             */
            signup: "open" | "first" | "closed";
            /**
             * @description outbox: mails are stored as files on the server.
             * @enum {string}
             */
            mail: "smtp" | "outbox";
            /** @description Stand-in providers for trials and the credentials that they accept, from PROVIDERS_FILE. */
            standIns: {
                providerSlug: string;
                credentials: {
                    [key: string]: string;
                };
            }[];
        };
        GetProviderReply: {
            provider: {
                slug: string;
                displayName: string;
                /** @description The fields of `credentials` of its accounts; empty: no credentials. */
                credentialFields: {
                    name: string;
                    label: string;
                    required: boolean;
                    /** @description Whether the form hides the input. */
                    secret: boolean;
                    /** @enum {string} */
                    kind: "text" | "url" | "region" | "private_key" | "google_key";
                    /** @description What a value looks like. */
                    placeholder: string | null;
                    /** @description What to enter, or where to find the value. */
                    hint: string | null;
                    /** @description What a value must look like; others are rejected. */
                    looksLike: string | null;
                    /** @description The allowed values; null: any. */
                    values: string[] | null;
                }[];
                /** @description Ways in which the gateway mints the credential, instead of credentialFields. */
                methods: {
                    /** @description Accounts state it as `method` in their credentials. */
                    name: string;
                    label: string;
                    hint: string | null;
                    kind: string;
                    docs: string | null;
                    fields: {
                        name: string;
                        label: string;
                        required: boolean;
                        /** @description Whether the form hides the input. */
                        secret: boolean;
                        /** @enum {string} */
                        kind: "text" | "url" | "region" | "private_key" | "google_key";
                        /** @description What a value looks like. */
                        placeholder: string | null;
                        /** @description What to enter, or where to find the value. */
                        hint: string | null;
                        /** @description What a value must look like; others are rejected. */
                        looksLike: string | null;
                        /** @description The allowed values; null: any. */
                        values: string[] | null;
                    }[];
                }[];
                /** @enum {string|null} */
                category: "model" | "storage" | "database" | "hosting" | "email" | "saas" | null;
                /** @description Address of the vendor’s reference. */
                docs: string | null;
                /** @description Names of the origins; the path of one beside default is /v1/proxy/{slug}:{origin}/…. */
                origins: string[];
                /** @description Calls whose path does not say what they do; rejected unless the account allows them. */
                opaqueCalls: {
                    call: string;
                    why: string | null;
                }[];
                /** @description Allow-lists for the calls of a policy. */
                presets: {
                    name: string;
                    calls: string[];
                    /** @description The least scopes that the credential needs. */
                    scopes: string | null;
                }[];
                /** @description Whether policies may have rules for models. */
                hasModels: boolean;
                /** @description Calls that are rejected unless the account allows them, each with its public reference. */
                sensitiveCalls: {
                    call: string;
                    why: string;
                    source: string;
                }[];
                sdk: {
                    /** @description Variables that point the vendor’s SDK to the gateway. */
                    env: {
                        [key: string]: {
                            /** @description {url} is the address of the provider on the gateway, {token} the gateway token. */
                            value: string;
                            /** @description The value of the first of these variables that is set wins. */
                            keep: string[];
                        };
                    };
                    /** @description Variables that hold a credential of the provider. */
                    secretEnv: string[];
                    /** @description Variables that would lead the SDK past the gateway. */
                    removeEnv: string[];
                    /** @description What variables cannot configure. */
                    remark: string | null;
                    /** @description Path that the SDK expects in its base URL. */
                    basePath: string;
                    snippets: {
                        id: string;
                        label: string;
                        code: string;
                    }[];
                };
            };
        };
        GetStatusReply: {
            /** @enum {string} */
            status: "operational" | "degraded" | "outage";
            providers: {
                slug: string;
                displayName: string;
                /** @enum {string} */
                state: "CLOSED" | "HALF_OPEN" | "OPEN";
                /** @enum {string} */
                status: "operational" | "degraded" | "outage";
            }[];
            /** @description Limits and soft budgets are not checked on data planes without their counter store. Null: no outage. */
            counterStoreOutage: {
                /** Format: date-time */
                since: string;
                /** @description Number of data planes that cannot reach their counter store. */
                dataPlanes: number;
            } | null;
            /** Format: date-time */
            lastUpdated: string;
        };
        InvitationDetails: {
            orgName: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
            email: string;
            /** @description Null: no longer a member. */
            inviter: {
                name: string;
                email: string;
            } | null;
            /**
             * @description What the acceptance needs. `new`: name and password; `existing`: the password of the account; `unconfirmed`: a new password; `session`: nothing, the caller is logged in with the address.
             * @enum {string}
             */
            account: "new" | "existing" | "unconfirmed" | "session";
            /** @description The organization’s identity provider logs in people of this address. */
            sso: boolean;
            /** @description Only single sign-on opens the organization. */
            ssoRequired: boolean;
        };
        InviteInput: {
            /** Format: email */
            email: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
        };
        InvitedReply: {
            member: components["schemas"]["Member"];
            /** @description The invitation link, if mails are stored as files on the server; otherwise null, because only the mail contains the link. */
            invitationUrl: string | null;
        };
        IssuerPatch: {
            manualRotation: boolean;
        };
        IssuerReply: {
            issuer: {
                /** @description `iss` of the tokens. */
                url: string;
                discoveryUrl: string;
                jwksUrl: string;
                jwks: {
                    keys: {
                        [key: string]: unknown;
                    }[];
                };
                /** @description Whether providers can fetch the keys: an https URL with a public name. */
                isPublic: boolean;
                /** @description `sub` of the tokens of the agent; null without agentId. */
                subject: string | null;
                /** @description A new key signs only after an admin has activated it. */
                manualRotation: boolean;
                keys: {
                    /**
                     * Format: uuid
                     * @description `kid` of the key.
                     */
                    id: string;
                    /** @enum {string} */
                    state: "next" | "signing" | "former";
                    /** Format: date-time */
                    createdAt: string;
                    /**
                     * Format: date-time
                     * @description Null: the key is pending until an admin activates it.
                     */
                    activeFrom: string | null;
                }[];
                setups: {
                    providerSlug: string;
                    /** @description `method` of the credentials. */
                    method: string;
                    label: string;
                    /** @description `aud` of the tokens. <name> stands for a field of the account. */
                    audience: string;
                    /** @description Reference of the provider. */
                    docs: string | null;
                    /** @description What to enter at the provider, with the values of this issuer. */
                    steps: string[];
                }[];
            };
        };
        LimitReplayInput: {
            agentIds: string[];
            /**
             * Format: date-time
             * @description Calls that began from then on.
             */
            from: string;
            /**
             * Format: date-time
             * @description Calls that began before.
             */
            to: string;
            limits: {
                /** @description Requests in any 60 seconds, per agent and provider. */
                rpmLimit?: number;
                /** @description Requests per 24 hours, per agent and provider. */
                rpdLimit?: number;
                /** @description Tokens in any 60 seconds, per agent and provider. */
                tpmLimit?: number;
                /** @description As budget rows; replayed as soft budgets. */
                budgets?: {
                    /** @enum {string} */
                    window: "day" | "week" | "month" | "total";
                    cents: number;
                    models?: string[];
                    tag?: string;
                }[];
            };
            /** @description true: each budget counts all agents together, as that of a project does. */
            sharedBudgets?: boolean;
        };
        LimitReplayReply: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            calls: number;
            /** @description US cents. */
            costCents: number;
            rejected: number;
            /** @description What the rejected calls had cost, US cents. */
            rejectedCents: number;
            firstRejectedAt: string | null;
            /** @description False: the replay stopped at its bound; `replayedUntil` says where. */
            complete: boolean;
            /** Format: date-time */
            replayedUntil: string;
            limits: {
                /** @description rpm, rpd, tpm or budget. */
                limit: string;
                /** @description Index in limits.budgets; null: a rate limit. */
                budgetIndex: number | null;
                rejected: number;
                /** @description What the rejected calls had cost, US cents. */
                rejectedCents: number;
                firstRejectedAt: string | null;
            }[];
            agents: {
                /** Format: uuid */
                agentId: string;
                calls: number;
                rejected: number;
                /** @description What the rejected calls had cost, US cents. */
                rejectedCents: number;
                firstRejectedAt: string | null;
            }[];
            /** @enum {string} */
            interval: "hour" | "day";
            timeseries: {
                /** @description Start of the hour or day, UTC. */
                bucket: string;
                calls: number;
                /** @description US cents. */
                costCents: number;
                rejected: number;
                /** @description US cents. */
                rejectedCents: number;
            }[];
            /** @description What a replay cannot know. */
            notes: string[];
        };
        LimitWouldRejectData: {
            agentId: string;
            agentName: string;
            /** @description rpm, rpd, tpm, budget, project_budget or org_budget. */
            limit: string;
            /** @description Id of the budget row; null: another limit. */
            budgetId: string | null;
            /** @description Instance of the window, such as 2026-11-28, 2026-W48 or 2026-11. */
            window: string;
            /** @description The first call that it would have rejected. */
            callId: string;
            orgId: string;
        };
        LimitWouldRejectEvent: {
            /** @constant */
            event: "limit.would_reject";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["LimitWouldRejectData"];
        };
        LineList: {
            lines: {
                /** @description Start of the hour or day; null in sums over all of them. */
                start: string | null;
                /** @description The key as the provider shows it, empty where it names none; null in sums. */
                key: string | null;
                /** @description Null in sums. */
                model: string | null;
                /** @description False: no account of the organization holds the key. */
                isHeld: boolean;
                /**
                 * @description `match`: both agree. `pending`: the provider may still report it. `drift`: another price, or billed failures. `unbilled`: booked, not billed. `ambiguous`: billed calls of several keys that the provider shows alike, one of them held here; replace one of them. `unattributed`: calls that the gateway did not make.
                 * @enum {string}
                 */
                state: "match" | "pending" | "drift" | "unbilled" | "ambiguous" | "unattributed";
                ourRequests: number;
                /** @description Null: the provider does not count requests. */
                theirRequests: number | null;
                ourTokens: number;
                theirTokens: number;
                /** @description Booked by the gateway. */
                ourCents: number;
                /** @description Reported by the provider. */
                theirCents: number;
                /** @description `theirCents` minus `ourCents`: the sum of the five causes. */
                differenceCents: number;
                /** @description Billed calls that failed at the gateway. */
                failureCents: number;
                /** @description Calls that the gateway did not make. */
                unattributedCents: number;
                /** @description Calls that the gateway did not make, of one of several keys that the provider shows alike. */
                ambiguousCents: number;
                /** @description Booked calls that the provider does not bill; 0 or negative. */
                unbilledCents: number;
                /** @description The same tokens at another price. */
                priceCents: number;
            }[];
            total: number;
            limit: number;
            offset: number;
        };
        LinkInput: {
            password: string;
            /** @description The 6 digits that the authenticator app shows, or a recovery code. Each code works once. */
            code?: string;
        };
        ListCircuitsReply: {
            circuits: {
                providerSlug: string;
                displayName: string;
                builtIn: boolean;
                /** @description scheme://host[:port] of the provider. */
                origin: string;
                /** @enum {string} */
                state: "CLOSED" | "HALF_OPEN" | "OPEN";
                /** @description Why it is open: calls of the organization failed (error_rate), a probe after the cooldown failed (probe_failed), the gateway cannot connect to the provider (connect), or a member holds it open (held). Null unless OPEN. */
                reason: ("error_rate" | "probe_failed" | "connect" | "held") | null;
                /**
                 * Format: date-time
                 * @description Of this state; null: it has never been another.
                 */
                since: string | null;
                /**
                 * Format: date-time
                 * @description When the cooldown or the hold ends; null unless OPEN, and where the gateway cannot connect.
                 */
                nextProbeAt: string | null;
                /** @description Number of the organization’s accounts at this origin. */
                accounts: number;
            }[];
            total: number;
            limit: number;
            offset: number;
        };
        ListProvidersReply: {
            providers: {
                slug: string;
                displayName: string;
                /** @description The fields of `credentials` of its accounts; empty: no credentials. */
                credentialFields: {
                    name: string;
                    label: string;
                    required: boolean;
                    /** @description Whether the form hides the input. */
                    secret: boolean;
                    /** @enum {string} */
                    kind: "text" | "url" | "region" | "private_key" | "google_key";
                    /** @description What a value looks like. */
                    placeholder: string | null;
                    /** @description What to enter, or where to find the value. */
                    hint: string | null;
                    /** @description What a value must look like; others are rejected. */
                    looksLike: string | null;
                    /** @description The allowed values; null: any. */
                    values: string[] | null;
                }[];
                /** @description Ways in which the gateway mints the credential, instead of credentialFields. */
                methods: {
                    /** @description Accounts state it as `method` in their credentials. */
                    name: string;
                    label: string;
                    hint: string | null;
                    kind: string;
                    docs: string | null;
                    fields: {
                        name: string;
                        label: string;
                        required: boolean;
                        /** @description Whether the form hides the input. */
                        secret: boolean;
                        /** @enum {string} */
                        kind: "text" | "url" | "region" | "private_key" | "google_key";
                        /** @description What a value looks like. */
                        placeholder: string | null;
                        /** @description What to enter, or where to find the value. */
                        hint: string | null;
                        /** @description What a value must look like; others are rejected. */
                        looksLike: string | null;
                        /** @description The allowed values; null: any. */
                        values: string[] | null;
                    }[];
                }[];
                /** @enum {string|null} */
                category: "model" | "storage" | "database" | "hosting" | "email" | "saas" | null;
                /** @description Address of the vendor’s reference. */
                docs: string | null;
                /** @description Names of the origins; the path of one beside default is /v1/proxy/{slug}:{origin}/…. */
                origins: string[];
                /** @description Calls whose path does not say what they do; rejected unless the account allows them. */
                opaqueCalls: {
                    call: string;
                    why: string | null;
                }[];
                /** @description Allow-lists for the calls of a policy. */
                presets: {
                    name: string;
                    calls: string[];
                    /** @description The least scopes that the credential needs. */
                    scopes: string | null;
                }[];
                /** @description Whether policies may have rules for models. */
                hasModels: boolean;
            }[];
            total: number;
            limit: number;
            offset: number;
        };
        ListedAccountReply: {
            account: {
                /** Format: uuid */
                id: string;
                /** Format: uuid */
                agentId: string;
                providerSlug: string;
                /** @enum {string} */
                status: "active" | "needs_credentials";
                /**
                 * Format: uuid
                 * @description Id of the shared credential that the account uses; null when it has its own credentials.
                 */
                credentialId: string | null;
                /** @description Null: the credential is stored. */
                minted: {
                    method: string;
                    kind: string;
                    /**
                     * @description waiting: nothing was needed yet. failing: the last attempt failed; a former token may still serve. not_connected, reconnect_needed: a person must connect the account.
                     * @enum {string}
                     */
                    state: "waiting" | "not_connected" | "active" | "failing" | "expired" | "reconnect_needed";
                    /** @description Granted scopes, where the provider states them. */
                    scope: string | null;
                    /**
                     * Format: date-time
                     * @description The last success.
                     */
                    mintedAt: string | null;
                    /**
                     * Format: date-time
                     * @description Until the gateway uses the present token; null: no expiry, or no token.
                     */
                    expiresAt: string | null;
                    /**
                     * Format: date-time
                     * @description When a person last connected it. Null: never, or its kind of credential is not connected.
                     */
                    connectedAt: string | null;
                    failure: {
                        reason: string;
                        /** @description Error code of the token endpoint. */
                        detail: string | null;
                        cause: string;
                        remedy: string;
                        /** Format: date-time */
                        at: string;
                        /**
                         * Format: date-time
                         * @description Null: when a person has acted.
                         */
                        nextAttemptAt: string | null;
                    } | null;
                } | null;
                /** @description The current or last rotation with overlap; null: no rotation has started. */
                rotation: {
                    /**
                     * @description testing: the new credential is stored and not in use. rejected: the provider does not accept it. retiring: it is in use, and the previous one is kept. retired: the previous one is deleted. rolled_back: the previous one is in use again.
                     * @enum {string}
                     */
                    state: "testing" | "rejected" | "retiring" | "retired" | "rolled_back" | "cancelled";
                    /** Format: date-time */
                    startedAt: string;
                    /** @description HTTP status of the last test; null: no answer. */
                    testStatus: number | null;
                    /** @description Why the last test did not accept the credential. */
                    problem: string | null;
                    /**
                     * Format: date-time
                     * @description When a credential that could not be tested is tested again.
                     */
                    nextTestAt: string | null;
                    /**
                     * Format: date-time
                     * @description From when on new calls carry the new credential.
                     */
                    inUseSince: string | null;
                    /**
                     * Format: date-time
                     * @description Until then the previous credential is kept, even without calls that use it.
                     */
                    keepUntil: string | null;
                    /**
                     * Format: date-time
                     * @description When the previous credential is deleted at the latest.
                     */
                    retiresBy: string | null;
                    /** @description Calls and WebSockets in flight with the previous credential; null: not every data plane has reported. */
                    callsInFlight: number | null;
                    /**
                     * Format: date-time
                     * @description When the rotation ended.
                     */
                    endedAt: string | null;
                    /** @description The previous credential is compromised and never used again. */
                    compromised: boolean;
                } | null;
                /**
                 * @description Always the string "true".
                 * @constant
                 */
                isByok: "true";
                /** @constant */
                mode: "byok";
                /** @description Whether calls that return credentials are allowed. */
                allowSensitivePaths: boolean;
                /** @description Whether calls are allowed whose path does not say what they do. */
                allowOpaque: boolean;
                /**
                 * Format: date-time
                 * @description Start of the last call with the account, to the minute. Null: none.
                 */
                lastUsedAt: string | null;
                /** Format: date-time */
                createdAt: string;
                agentName: string;
            };
        };
        ListedProvider: {
            /**
             * Format: uuid
             * @description Null for a built-in provider.
             */
            id: string | null;
            slug: string;
            displayName: string;
            /** @description Null when each account has its own URL. */
            baseUrl: string | null;
            authType: string;
            authName: string | null;
            authPrefix: string | null;
            usageFormat: string | null;
            /** @description Calls that are rejected unless the account allows them. */
            sensitivePaths: string[];
            /** @description The fields of `credentials` of its accounts; empty: no credentials. */
            credentialFields: {
                name: string;
                label: string;
                required: boolean;
                /** @description Whether the form hides the input. */
                secret: boolean;
                /** @enum {string} */
                kind: "text" | "url" | "region" | "private_key" | "google_key";
                /** @description What a value looks like. */
                placeholder: string | null;
                /** @description What to enter, or where to find the value. */
                hint: string | null;
                /** @description What a value must look like; others are rejected. */
                looksLike: string | null;
                /** @description The allowed values; null: any. */
                values: string[] | null;
            }[];
            /** @description Ways in which the gateway mints the credential, instead of credentialFields. */
            methods: {
                /** @description Accounts state it as `method` in their credentials. */
                name: string;
                label: string;
                hint: string | null;
                kind: string;
                docs: string | null;
                fields: {
                    name: string;
                    label: string;
                    required: boolean;
                    /** @description Whether the form hides the input. */
                    secret: boolean;
                    /** @enum {string} */
                    kind: "text" | "url" | "region" | "private_key" | "google_key";
                    /** @description What a value looks like. */
                    placeholder: string | null;
                    /** @description What to enter, or where to find the value. */
                    hint: string | null;
                    /** @description What a value must look like; others are rejected. */
                    looksLike: string | null;
                    /** @description The allowed values; null: any. */
                    values: string[] | null;
                }[];
            }[];
            /** @enum {string|null} */
            category: "model" | "storage" | "database" | "hosting" | "email" | "saas" | null;
            /** @description Address of the vendor’s reference. */
            docs: string | null;
            /** @description Names of the origins; the path of one beside default is /v1/proxy/{slug}:{origin}/…. */
            origins: string[];
            /** @description Calls whose path does not say what they do; rejected unless the account allows them. */
            opaqueCalls: {
                call: string;
                why: string | null;
            }[];
            /** @description Allow-lists for the calls of a policy. */
            presets: {
                name: string;
                calls: string[];
                /** @description The least scopes that the credential needs. */
                scopes: string | null;
            }[];
            /** @description How the provider was defined; null for a built-in provider and for the short form. */
            definition: {
                [key: string]: unknown;
            } | null;
            builtIn: boolean;
            /**
             * Format: date-time
             * @description Null for a built-in provider.
             */
            createdAt: string | null;
        };
        LogRecord: {
            /**
             * Format: uuid
             * @description Id of the call.
             */
            id: string;
            /**
             * Format: uuid
             * @description The same id, as in the response header x-gateway-request-id.
             */
            requestId: string;
            /**
             * Format: date-time
             * @description Start of the call.
             */
            createdAt: string;
            /**
             * Format: uuid
             * @description The agent.
             */
            agentId: string;
            /**
             * Format: uuid
             * @description The gateway token.
             */
            keyId: string;
            /** @description The provider. */
            providerSlug: string;
            /**
             * Format: uuid
             * @description The provider account.
             */
            accountId: string;
            /** @description HTTP method. */
            method: string;
            /** @description Path at the provider without its query, at most 1024 characters. */
            path: string;
            /** @description Status that the agent received. */
            status: number;
            /** @description Class of the error, such as `timeout` or `client_aborted`; null: none. */
            error: string | null;
            /** @description The model, as the provider names it; null: none. */
            model: string | null;
            /** @description Sum of uncached input, cache reads and cache writes. */
            tokensIn: number;
            /** @description Output tokens, reasoning included. */
            tokensOut: number;
            /** @description Part of tokensIn that the provider read from its cache. */
            tokensCacheRead: number;
            /** @description Part of tokensIn that the provider wrote to its cache. */
            tokensCacheWrite: number;
            /** @description Part of tokensOut. */
            tokensReasoning: number;
            /** @description US cents, not rounded. */
            costCents: number;
            /** @description Source of the tokens: `reported`, `estimated`, `partial` or `none`. */
            usageSource: string;
            /** @description Source of the price: `library`, `override`, `fallback`, `per_request` or `none`. */
            priceSource: string;
            /** @description Milliseconds from the start to the end of the response. */
            durationMs: number;
            /** @description Milliseconds from the start to the head of the provider’s response; null: it sent none. */
            ttfbMs: number | null;
            /** @description Bytes of the request body. */
            bytesIn: number;
            /** @description Bytes of the response body. */
            bytesOut: number;
            /** @description Whether the response was a stream. */
            streamed: boolean;
            /** @description The data plane that forwarded the call. */
            dataPlaneId: string;
            /** @description Cost that the provider itself states in its response, US cents, not rounded; null: it states none. */
            statedCostCents: number | null;
            /** @description Tool of an MCP server that the call names; null: none. */
            tool: string | null;
            /** @description Tags that the caller stated, `key=value`, sorted, separated by commas; null: none. */
            tags: string | null;
            /** @description The run whose key made the call; null: none. */
            runId: string | null;
            /** @description Limits in audit mode that would have rejected the call, such as `rpm` or `budget:<id>`; null: none. */
            wouldReject: string | null;
            /** @description Name of the agent now; null: it is deleted. */
            agentName: string | null;
            /** @description Name of the project now; null: it is deleted or not known. */
            projectName: string | null;
            /** @description Name of the gateway token now; null: it is deleted. */
            keyName: string | null;
        };
        LoginInput: {
            /** Format: email */
            email: string;
            password: string;
            /** @description The 6 digits that the authenticator app shows, or a recovery code. Each code works once. */
            code?: string;
        };
        LoginReply: {
            token: string;
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                name: string;
            };
            /** Format: uuid */
            orgId: string;
            orgs: components["schemas"]["OrganizationWithRole"][];
        };
        LogsReply: {
            logs: components["schemas"]["LogRecord"][];
            total: number;
            limit: number;
            offset: number;
            totalCapped: boolean;
        };
        LookUpDeviceInput: {
            /** @description The code that the user types. Never put it into a link. */
            userCode: string;
        };
        LookUpDeviceReply: {
            device: {
                /** @description The name that the program reports. Unverified. */
                client: string;
                /** @description The hostname that the program reports. Unverified. */
                hostname: string;
                ip: string;
                /** Format: date-time */
                createdAt: string;
                /** Format: date-time */
                expiresAt: string;
            };
            orgs: components["schemas"]["OrganizationWithRole"][];
        };
        LookupInput: {
            token: string;
        };
        ManagementToken: {
            /** Format: uuid */
            id: string;
            name: string;
            tokenPrefix: string;
            /**
             * @description The highest role of the token. Each call gets the lower of this role and the current role of its creator.
             * @enum {string}
             */
            role: "viewer" | "member" | "admin";
            /** @description Null: the whole organization. */
            projectId: string | null;
            /** Format: uuid */
            createdBy: string;
            lastUsedAt: string | null;
            expiresAt: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        ManagementTokenCreated: {
            token: components["schemas"]["ManagementToken"];
            /** @description The complete token. It is returned only once. */
            secretToken: string;
        };
        ManagementTokenInput: {
            name: string;
            /**
             * @description The highest role of the token. Each call gets the lower of this role and the current role of its creator.
             * @enum {string}
             */
            role: "viewer" | "member" | "admin";
            /** Format: uuid */
            projectId?: string;
            /** Format: date-time */
            expiresAt?: string;
        };
        ManagementTokenList: {
            tokens: components["schemas"]["ManagementToken"][];
            total: number;
            limit: number;
            offset: number;
        };
        MeReply: {
            /** @description Null for a management token, which is not a user. */
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                name: string;
                emailVerified: boolean;
            } | null;
            /** @description The management token of the call; null in the session of a user. */
            token: {
                /** Format: uuid */
                id: string;
                name: string;
                tokenPrefix: string;
                /** @description Null: the whole organization. */
                projectId: string | null;
                /** @description Null: never. */
                expiresAt: string | null;
                /** Format: date-time */
                createdAt: string;
            } | null;
            /** Format: uuid */
            orgId: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
            orgs: components["schemas"]["OrganizationWithRole"][];
        };
        Member: {
            /**
             * Format: uuid
             * @description Id of the user, or of the invitation while the status is invited.
             */
            userId: string;
            email: string;
            /** @description Null while the status is invited. */
            name: string | null;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
            /** @enum {string} */
            status: "active" | "invited";
            /** Format: date-time */
            createdAt: string;
            /** @description False while the status is invited. */
            emailVerified: boolean;
            /** @description The last request of a session in this organization, to the minute. Null: none that is still stored. */
            lastSeenAt: string | null;
        };
        MemberList: {
            members: components["schemas"]["Member"][];
            total: number;
            limit: number;
            offset: number;
        };
        MemberReply: {
            member: components["schemas"]["Member"];
        };
        MemberSessionList: {
            sessions: components["schemas"]["SessionInfo"][];
            total: number;
            limit: number;
            offset: number;
        };
        MergedCall: {
            /** @enum {string} */
            state: "forwarded" | "rejected";
            /**
             * Format: date-time
             * @description When the call started, or when the gateway rejected it.
             */
            at: string;
            /** Format: uuid */
            id: string;
            forwarded: components["schemas"]["Call"] | null;
            rejected: components["schemas"]["RejectedCall"] | null;
        };
        MergedCallsReply: {
            calls: components["schemas"]["MergedCall"][];
            limit: number;
            /** @description `cursor` of the next page. Null: no older call matches. */
            nextCursor: string | null;
            /** @description The search stopped here before the page was full; `nextCursor` continues it. Null: it did not stop. */
            searchedFrom: string | null;
        };
        Ok: {
            /** @constant */
            ok: true;
        };
        OrganizationDeletion: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            orgId: string;
            name: string;
            slug: string;
            /** @enum {string} */
            status: "pending" | "restored" | "deleted";
            requestedBy: {
                /** Format: uuid */
                userId: string;
                email: string;
            };
            ip: string;
            /** Format: date-time */
            requestedAt: string;
            /** Format: date-time */
            purgeAt: string;
            /** @description Null unless the organization was restored. */
            restoredAt: string | null;
            restoredByEmail: string | null;
            /** @description Null until everything in it is deleted. */
            deletedAt: string | null;
        };
        OrganizationDeletionList: {
            deletions: components["schemas"]["OrganizationDeletion"][];
            total: number;
            limit: number;
            offset: number;
        };
        OrganizationInput: {
            name: string;
        };
        OrganizationPatch: {
            name?: string;
            /** @description US cents per calendar month over all agents of the organization; null: no budget. */
            budgetCentsMonthly?: number | null;
            /** @description All budgets of the object: replaces the list. One row per window, models and tag. The row of the window month without models and tag is budgetCentsMonthly and its mode. */
            budgets?: components["schemas"]["BudgetRowInput"][];
            /** @description Limits and budgets that a new agent gets where POST /v1/agents states none; of its project, else of the organization. Null: none. */
            agentDefaults?: {
                /** @description US cents per calendar month over all providers; null: no budget. */
                budgetCentsMonthly?: number;
                /** @description Requests in any 60 seconds, per provider; null: the default, 60. */
                rpmLimit?: number;
                /** @description Requests per 24 hours, per provider; null: the default, 10000. */
                rpdLimit?: number;
                /** @description Tokens in and out of calls that ended in the last 60 seconds, per provider; null: no limit. */
                tpmLimit?: number;
                /** @enum {string} */
                budgetMode?: "soft" | "hard";
                /** @description All budgets of the object: replaces the list. One row per window, models and tag. The row of the window month without models and tag is budgetCentsMonthly and its mode. */
                budgets?: components["schemas"]["BudgetRowInput"][];
                /** @description Limits in audit mode: counted, and never reject. The answer names them in x-gateway-would-reject. For a budget, use mode: audit. */
                auditLimits?: ("rpm" | "rpd" | "tpm")[];
            } | null;
            /** @description Members without a second factor get 403 until they set one up. Only owners change it. */
            requireSecondFactor?: boolean;
        };
        OrganizationReply: {
            org: components["schemas"]["OrganizationWithRole"];
        };
        OrganizationSettings: {
            org: {
                /** Format: uuid */
                id: string;
                name: string;
                slug: string;
                /** @enum {string} */
                role: "viewer" | "member" | "admin" | "owner";
                /**
                 * Format: date-time
                 * @description Only while the organization is being deleted: an owner can restore it until this time.
                 */
                purgeAt?: string;
                /**
                 * @description The organization requires a second factor, which the user has not set up: calls in it are 403.
                 * @constant
                 */
                secondFactorMissing?: true;
                /**
                 * @description The organization requires single sign-on: calls in it are 403 in sessions that it did not open.
                 * @constant
                 */
                ssoRequired?: true;
                /**
                 * @description Only for owners, while suspended items wait for a review.
                 * @constant
                 */
                itemsSuspended?: true;
                /** @description US cents per calendar month over all agents of the organization; null: no budget. */
                budgetCentsMonthly: number | null;
                /** @description Budgets of every window, the plain monthly one first. */
                budgets: components["schemas"]["BudgetRow"][];
                /** @description Limits and budgets that a new agent gets where POST /v1/agents states none; of its project, else of the organization. Null: none. */
                agentDefaults: {
                    /** @description US cents per calendar month over all providers; null: no budget. */
                    budgetCentsMonthly?: number;
                    /** @description Requests in any 60 seconds, per provider; null: the default, 60. */
                    rpmLimit?: number;
                    /** @description Requests per 24 hours, per provider; null: the default, 10000. */
                    rpdLimit?: number;
                    /** @description Tokens in and out of calls that ended in the last 60 seconds, per provider; null: no limit. */
                    tpmLimit?: number;
                    /** @enum {string} */
                    budgetMode?: "soft" | "hard";
                    /** @description All budgets of the object: replaces the list. One row per window, models and tag. The row of the window month without models and tag is budgetCentsMonthly and its mode. */
                    budgets?: components["schemas"]["BudgetRowInput"][];
                    /** @description Limits in audit mode: counted, and never reject. The answer names them in x-gateway-would-reject. For a budget, use mode: audit. */
                    auditLimits?: ("rpm" | "rpd" | "tpm")[];
                } | null;
                /** @description Members without a second factor get 403 until they set one up. Only owners change it. */
                requireSecondFactor: boolean;
            };
        };
        OrganizationWithRole: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
            /**
             * Format: date-time
             * @description Only while the organization is being deleted: an owner can restore it until this time.
             */
            purgeAt?: string;
            /**
             * @description The organization requires a second factor, which the user has not set up: calls in it are 403.
             * @constant
             */
            secondFactorMissing?: true;
            /**
             * @description The organization requires single sign-on: calls in it are 403 in sessions that it did not open.
             * @constant
             */
            ssoRequired?: true;
            /**
             * @description Only for owners, while suspended items wait for a review.
             * @constant
             */
            itemsSuspended?: true;
        };
        OverrideCircuitInput: {
            providerSlug: string;
            /** @description Required when the organization has accounts at several origins. */
            origin?: string;
            /**
             * @description CLOSED: calls pass again immediately. OPEN: calls are rejected until the override expires.
             * @enum {string}
             */
            state: "CLOSED" | "OPEN";
            /** @description Duration of an OPEN override in minutes; default 60. */
            holdMinutes?: number;
        };
        OverrideCircuitReply: {
            circuit: {
                providerSlug: string;
                displayName: string;
                builtIn: boolean;
                /** @description scheme://host[:port] of the provider. */
                origin: string;
                /** @enum {string} */
                state: "CLOSED" | "HALF_OPEN" | "OPEN";
                /** @description Why it is open: calls of the organization failed (error_rate), a probe after the cooldown failed (probe_failed), the gateway cannot connect to the provider (connect), or a member holds it open (held). Null unless OPEN. */
                reason: ("error_rate" | "probe_failed" | "connect" | "held") | null;
                /**
                 * Format: date-time
                 * @description Of this state; null: it has never been another.
                 */
                since: string | null;
                /**
                 * Format: date-time
                 * @description When the cooldown or the hold ends; null unless OPEN, and where the gateway cannot connect.
                 */
                nextProbeAt: string | null;
                /** @description Number of the organization’s accounts at this origin. */
                accounts: number;
            };
        };
        PersonalAgentList: {
            personalAgents: components["schemas"]["PersonalAgentProject"][];
            total: number;
            limit: number;
            offset: number;
        };
        PersonalAgentProject: {
            /** Format: uuid */
            projectId: string;
            projectName: string;
            projectSlug: string;
            /** @description The caller's personal agent in this project; null: the first key creates it. */
            agent: {
                /** Format: uuid */
                id: string;
                name: string;
                slug: string;
                /** @enum {string} */
                status: "active" | "paused" | "revoked";
            } | null;
        };
        PersonalKeyInput: {
            /** Format: uuid */
            projectId: string;
            name: string;
            /**
             * @description How long the gateway token is valid, in seconds.
             * @default 43200
             */
            lifetimeSeconds?: number;
        };
        PersonalKeyReply: {
            agent: {
                /** Format: uuid */
                id: string;
                name: string;
                slug: string;
                /** @enum {string} */
                status: "active" | "paused" | "revoked";
            };
            key: {
                /** Format: uuid */
                id: string;
                name: string;
                keyPrefix: string;
                /** Format: date-time */
                expiresAt: string;
            };
            /** @description The gateway token. It is returned only once. */
            secretKey: string;
        };
        PollDeviceLoginInput: {
            deviceCode: string;
        };
        Preference: {
            /** Format: uuid */
            userId: string;
            email: string;
            name: string;
            /** @description Event mails are sent only to confirmed addresses. */
            emailVerified: boolean;
            events: ("agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected")[];
        };
        PreferenceInput: {
            events: ("agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected")[];
        };
        PreferenceList: {
            preferences: components["schemas"]["Preference"][];
            total: number;
            limit: number;
            offset: number;
        };
        PreferenceReply: {
            preference: components["schemas"]["Preference"];
        };
        PriceDriftData: {
            providerSlug: string;
            model: string;
            /** @description First day with that price. */
            day: string;
            /** @description The entry of PRICES_FILE that removes the difference. */
            pricesFile: string;
            orgId: string;
        };
        PriceDriftEvent: {
            /** @constant */
            event: "price.drift";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["PriceDriftData"];
        };
        PriceListing: {
            prices: {
                /** @description Slug of the provider. */
                provider: string;
                /** @description Null: the price per request of the provider, or of a `tool`. `*`: every model without its own price. */
                model: string | null;
                /** @description Tool of an MCP server whose calls cost `perRequestUsd`; null: the price of a model or a provider. */
                tool: string | null;
                /** @description Results of the tool with `isError: true` cost the same. */
                chargeErrors: boolean;
                /**
                 * @description Source: the operator’s PRICES_FILE, the prices built into the gateway or its price library. `fallback`: no list has the model, so it is billed at the price of the vendor’s most expensive model.
                 * @enum {string}
                 */
                source: "file" | "built_in" | "library" | "fallback";
                /**
                 * Format: date
                 * @description UTC day from which this price applies; null: no start day.
                 */
                from: string | null;
                /** @description With source `file`: the line of the entry and the fields it sets. All other prices come from the lists. */
                file: {
                    /** @description Line in PRICES_FILE; 1 is its first line. */
                    line: number;
                    fields: string[];
                } | null;
                /** @description Prices of PRICES_FILE that start later. */
                upcoming: {
                    /**
                     * Format: date
                     * @description UTC.
                     */
                    from: string;
                    /** @description Line in PRICES_FILE; 1 is its first line. */
                    line: number;
                }[];
                /** @description Prices in force. Prices of 0 and percentages of 100 are omitted. */
                prices: {
                    /** @description USD per million tokens: uncached input */
                    inputPerMTok?: number;
                    /** @description USD per million tokens: output, reasoning included */
                    outputPerMTok?: number;
                    /** @description USD per million tokens: input read from a cache */
                    cachedInputPerMTok?: number;
                    /** @description USD per million tokens: input written to a cache for 5 minutes */
                    cacheWritePerMTok?: number;
                    /** @description USD per million tokens: input written to a cache for 1 hour */
                    cacheWrite1hPerMTok?: number;
                    /** @description USD per million tokens: input that is audio */
                    audioInputPerMTok?: number;
                    /** @description USD per million tokens: input that is an image */
                    imageInputPerMTok?: number;
                    /** @description USD per million tokens: output that is audio */
                    audioOutputPerMTok?: number;
                    /** @description USD per million tokens: output that is an image */
                    imageOutputPerMTok?: number;
                    /** @description USD for 1000 web searches */
                    perThousandWebSearchesUsd?: number;
                    /** @description USD for 1000 file searches */
                    perThousandFileSearchesUsd?: number;
                    /** @description USD for one session of a container of 1 GB */
                    perContainerUsd?: number;
                    /** @description USD for one answer that ran code */
                    perCodeSessionUsd?: number;
                    /** @description USD for one minute of transcribed audio */
                    perAudioMinuteUsd?: number;
                    /** @description USD for one second of video */
                    perVideoSecondUsd?: number;
                    /** @description USD for one second of video in the larger size */
                    perLargeVideoSecondUsd?: number;
                    /** @description USD for a million characters of spoken text */
                    perMillionCharactersUsd?: number;
                    /** @description Percent of the token prices: lines of batches */
                    batchPercent?: number;
                    /** @description Percent of the token prices: service tier flex */
                    flexPercent?: number;
                    /** @description Percent of the token prices: service tier priority */
                    priorityPercent?: number;
                    /** @description Percent of the token prices: service tier or speed fast */
                    fastPercent?: number;
                    /** @description Percent of the token prices: service tier ultrafast */
                    ultrafastPercent?: number;
                    /** @description Percent of the token prices: inference in the US alone */
                    usPercent?: number;
                    /** @description USD per request in addition to its tokens. */
                    perRequestUsd?: number;
                };
                /** @description USD per image by size; null: images are billed by tokens. */
                perImageUsd: {
                    [key: string]: number;
                } | null;
                /** @description Prices of the whole request when its prompt, including cached tokens, is longer. */
                bands: {
                    aboveTokensIn: number;
                    /** @description USD per million tokens: uncached input */
                    inputPerMTok?: number;
                    /** @description USD per million tokens: output, reasoning included */
                    outputPerMTok?: number;
                    /** @description USD per million tokens: input read from a cache */
                    cachedInputPerMTok?: number;
                    /** @description USD per million tokens: input written to a cache for 5 minutes */
                    cacheWritePerMTok?: number;
                    /** @description USD per million tokens: input written to a cache for 1 hour */
                    cacheWrite1hPerMTok?: number;
                    /** @description USD per million tokens: input that is audio */
                    audioInputPerMTok?: number;
                    /** @description USD per million tokens: input that is an image */
                    imageInputPerMTok?: number;
                    /** @description USD per million tokens: output that is audio */
                    audioOutputPerMTok?: number;
                    /** @description USD per million tokens: output that is an image */
                    imageOutputPerMTok?: number;
                }[];
            }[];
            /**
             * Format: date-time
             * @description Time at which PRICES_FILE was last read; null without PRICES_FILE.
             */
            fileReadAt: string | null;
            total: number;
            limit: number;
            offset: number;
        };
        Project: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            /** @description US cents per calendar month over all agents of the project; null: no budget. */
            budgetCentsMonthly: number | null;
            /** Format: date-time */
            createdAt: string;
        };
        ProjectInput: {
            name: string;
        };
        ProjectList: {
            projects: components["schemas"]["Project"][];
            total: number;
            limit: number;
            offset: number;
        };
        ProjectPatch: {
            name?: string;
            /** @description US cents per calendar month over all agents of the project; null: no budget. */
            budgetCentsMonthly?: number | null;
            /** @description All budgets of the object: replaces the list. One row per window, models and tag. The row of the window month without models and tag is budgetCentsMonthly and its mode. */
            budgets?: components["schemas"]["BudgetRowInput"][];
            /** @description Limits and budgets that a new agent gets where POST /v1/agents states none; of its project, else of the organization. Null: none. */
            agentDefaults?: {
                /** @description US cents per calendar month over all providers; null: no budget. */
                budgetCentsMonthly?: number;
                /** @description Requests in any 60 seconds, per provider; null: the default, 60. */
                rpmLimit?: number;
                /** @description Requests per 24 hours, per provider; null: the default, 10000. */
                rpdLimit?: number;
                /** @description Tokens in and out of calls that ended in the last 60 seconds, per provider; null: no limit. */
                tpmLimit?: number;
                /** @enum {string} */
                budgetMode?: "soft" | "hard";
                /** @description All budgets of the object: replaces the list. One row per window, models and tag. The row of the window month without models and tag is budgetCentsMonthly and its mode. */
                budgets?: components["schemas"]["BudgetRowInput"][];
                /** @description Limits in audit mode: counted, and never reject. The answer names them in x-gateway-would-reject. For a budget, use mode: audit. */
                auditLimits?: ("rpm" | "rpd" | "tpm")[];
            } | null;
            /** @description Allows a personal agent for each member, with accounts that use these shared credentials, one per provider. Null: not allowed; personal agents of the project end. */
            personalAgents?: {
                credentialIds: string[];
            } | null;
        };
        ProjectReply: {
            project: components["schemas"]["ProjectWithBudgets"];
        };
        ProjectWithBudgets: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            /** @description US cents per calendar month over all agents of the project; null: no budget. */
            budgetCentsMonthly: number | null;
            /** Format: date-time */
            createdAt: string;
            /** @description Budgets of every window, the plain monthly one first. */
            budgets: components["schemas"]["BudgetRow"][];
            /** @description Limits and budgets that a new agent gets where POST /v1/agents states none; of its project, else of the organization. Null: none. */
            agentDefaults: {
                /** @description US cents per calendar month over all providers; null: no budget. */
                budgetCentsMonthly?: number;
                /** @description Requests in any 60 seconds, per provider; null: the default, 60. */
                rpmLimit?: number;
                /** @description Requests per 24 hours, per provider; null: the default, 10000. */
                rpdLimit?: number;
                /** @description Tokens in and out of calls that ended in the last 60 seconds, per provider; null: no limit. */
                tpmLimit?: number;
                /** @enum {string} */
                budgetMode?: "soft" | "hard";
                /** @description All budgets of the object: replaces the list. One row per window, models and tag. The row of the window month without models and tag is budgetCentsMonthly and its mode. */
                budgets?: components["schemas"]["BudgetRowInput"][];
                /** @description Limits in audit mode: counted, and never reject. The answer names them in x-gateway-would-reject. For a budget, use mode: audit. */
                auditLimits?: ("rpm" | "rpd" | "tpm")[];
            } | null;
            /** @description Allows a personal agent for each member, with accounts that use these shared credentials, one per provider. Null: not allowed; personal agents of the project end. */
            personalAgents: {
                credentialIds: string[];
            } | null;
        };
        ProviderBreakdown: {
            providerSlug: string;
            totalRequests: number;
            errorCount: number;
            avgLatency: number;
            p95Latency: number;
            totalCostCents: number;
            /** @description US dollars, rounded to six decimals. */
            totalCostUsd: number;
            totalTokensIn: number;
            totalTokensOut: number;
            rejectedRequests: number;
        };
        ProviderCircuitClosedData: {
            /** @description Slug of the provider, as in its proxy path. */
            providerSlug: string;
            /** @enum {string} */
            state: "OPEN" | "CLOSED";
            /** @description Percent of `requests` that failed. */
            errorRate: number;
            /** @description Number of requests in the window; of probes for a recovery; of data planes for the scope fleet. */
            requests: number;
            windowSeconds: number;
            /**
             * @description organization: calls of this organization fail or succeed again. fleet: the gateway cannot connect, or can again.
             * @enum {string}
             */
            scope?: "organization" | "fleet";
        };
        ProviderCircuitClosedEvent: {
            /** @constant */
            event: "provider.circuit_closed";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["ProviderCircuitClosedData"];
        };
        ProviderCircuitOpenedData: {
            /** @description Slug of the provider, as in its proxy path. */
            providerSlug: string;
            /** @enum {string} */
            state: "OPEN" | "CLOSED";
            /** @description Percent of `requests` that failed. */
            errorRate: number;
            /** @description Number of requests in the window; of probes for a recovery; of data planes for the scope fleet. */
            requests: number;
            windowSeconds: number;
            /**
             * @description organization: calls of this organization fail or succeed again. fleet: the gateway cannot connect, or can again.
             * @enum {string}
             */
            scope?: "organization" | "fleet";
        };
        ProviderCircuitOpenedEvent: {
            /** @constant */
            event: "provider.circuit_opened";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["ProviderCircuitOpenedData"];
        };
        ProviderListing: {
            providers: components["schemas"]["ListedProvider"][];
            total: number;
            limit: number;
            offset: number;
        };
        ProviderUsage: {
            providerSlug: string;
            totalRequests: number;
            totalTokensIn: number;
            totalTokensOut: number;
            totalCostCents: number;
            /** @description US dollars, rounded to six decimals. */
            totalCostUsd: number;
            avgDurationMs: number;
            rejectedRequests: number;
        };
        ProvidersReply: {
            /** @description Null if the request gave start or end. */
            period: ("24h" | "7d" | "30d" | "90d") | null;
            providers: components["schemas"]["ProviderBreakdown"][];
        };
        RecoveryCodes: {
            /** @description Shown once. Each works once instead of a code. */
            recoveryCodes: string[];
        };
        RefreshReply: {
            token: string;
        };
        Refusals: {
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            from: string;
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            to: string;
            refusals: {
                /** @description One of not_found, bad_request, method_not_allowed, unauthorized, unknown_tokens, agent_required, agent_ambiguous, agent_out_of_scope, paused, revoked, unknown_provider, not_assigned, needs_credentials, credential_refreshing, sensitive_path, opaque, denied_call, denied_model, denied_tool, rpm_tool, unmetered, budget_never_fits, budget_in_flight, budget_run, body_too_large, body_room, presigned_over, websocket, org_inflight, overload, stopping, contexts_unavailable, limits_unavailable, spool_full, circuit_open, egress_refused, loop, upstream_unreachable, upgrade_refused, upstream_timeout, internal, rpm, rpd, tpm, budget, budget_project, budget_org; data planes of later releases may have further ones. */
                reason: string;
                count: number;
            }[];
        };
        RejectedCall: {
            /**
             * Format: uuid
             * @description The request id that the agent got.
             */
            id: string;
            /** Format: date-time */
            rejectedAt: string;
            reason: string;
            /** @description Status of the response. */
            status: number;
            method: string;
            /** @description Without the query. */
            path: string;
            /** @description Null: rejected before the provider was known. */
            providerSlug: string | null;
            model: string | null;
            tool: string | null;
            /** Format: uuid */
            agentId: string;
            agentName: string | null;
            /** Format: uuid */
            keyId: string;
            keyName: string | null;
            keyPrefix: string | null;
            /** @description The budget row that rejected the call; null: none. */
            budgetId: string | null;
            /** @description IPv4 address, or /64 of the IPv6 address, of the client. */
            clientNetwork: string;
        };
        RejectedCallsReply: {
            calls: components["schemas"]["RejectedCall"][];
            total: number;
            limit: number;
            offset: number;
        };
        RenameInput: {
            name: string;
        };
        ReplayInput: {
            /**
             * Format: date-time
             * @description Replays deliveries created at or after this time.
             */
            start: string;
            /**
             * Format: date-time
             * @description Replays deliveries created before this time.
             */
            end: string;
            /** @description Statuses to replay. Default: failed. */
            status?: ("failed" | "success")[];
            /** @enum {string} */
            event?: "agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected";
        };
        ReplayReply: {
            /** @description Number of deliveries queued again, the oldest first; at most 1000 per call. */
            replayed: number;
            /** @description Number of deliveries in the range that were not queued. */
            remaining: number;
            /** @description Creation time of the last queued delivery: the `start` of the next call. Null when none was queued. */
            until: string | null;
        };
        ResetInput: {
            token: string;
            password: string;
        };
        Restored: {
            /** @constant */
            restored: true;
        };
        RoleInput: {
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
        };
        RotateInput: {
            credentials: components["schemas"]["CredentialsInput"];
            /** @description Store the credential in addition to the current one, test it, then use it; calls in flight finish with the previous one. */
            testFirst?: boolean;
            /** @description With testFirst: how long the previous credential is kept at least. Default 600. */
            keepSeconds?: number;
            /** @description The current credential may be leaked. Replaces it at once and aborts its calls in flight. */
            compromised?: boolean;
        };
        RotationActionInput: {
            /**
             * @description cancel: delete the new credential. roll_back: use the previous one again, if the provider accepts it. retire: delete the previous one now; its calls in flight finish. compromised: delete the previous one at once and abort its calls in flight.
             * @enum {string}
             */
            action: "cancel" | "roll_back" | "retire" | "compromised";
        };
        RotationInput: {
            /**
             * @description How long the old token stays valid beside the new one, in seconds; 0 revokes it at once.
             * @default 86400
             */
            graceSeconds?: number;
            /**
             * Format: date-time
             * @description When the new key expires. By default it gets the same lifetime as the old key.
             */
            expiresAt?: string | null;
        };
        RotationReply: {
            key: components["schemas"]["ApiKey"];
            /** @description The gateway token. It is returned only once. */
            secretKey: string;
            previous: components["schemas"]["ApiKey"];
        };
        Run: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            agentId: string;
            agentName: string;
            /** Format: uuid */
            projectId: string;
            /**
             * Format: uuid
             * @description The run that this run is part of; null for a top run.
             */
            parentId: string | null;
            /**
             * Format: uuid
             * @description The top run of the tree; its own id for a top run.
             */
            rootId: string;
            depth: number;
            label: string;
            /** @enum {string} */
            state: "running" | "ended" | "expired";
            budgetCents: number;
            /** @description Booked spend of the run and its sub-runs. */
            spentCents: number;
            /** @description The same in US dollars, rounded to six decimals. */
            spentUsd: number;
            /** @description Booked calls of the run and its sub-runs. */
            calls: number;
            /** @description Number of runs whose parent is this run, counted up to 1000. The list with `parentId` has the whole `total`. */
            subRuns: number;
            /** @description What the run may call, within the policies of its ancestors and its agent. Null: what they allow. */
            policy: {
                [key: string]: {
                    /** @description A method or *, a space, and a path of the provider. * matches any characters within one segment, ** any number of segments including none. Example: GET /v1/models/** */
                    calls?: string[];
                    models?: {
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        allow?: string[];
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Tools of an MCP server. deny wins. Without allow, all that are not denied. */
                    tools?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Resources of an MCP server. deny wins. Without allow, all that are not denied. */
                    resources?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Prompts of an MCP server. deny wins. Without allow, all that are not denied. */
                    prompts?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Limits for tools of an MCP server, beside those of the agent. The first entry that matches counts; all tools that match share it. */
                    toolLimits?: {
                        /** @description Name of a tool, case-insensitive; * matches any number of characters. */
                        tool: string;
                        /** @description Requests in any 60 seconds. */
                        rpm: number;
                    }[];
                };
            } | null;
            /** @description The first characters of the run’s gateway token. */
            keyPrefix: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the run ends by itself.
             */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When the run ended; null while it is running.
             */
            endedAt: string | null;
        };
        RunBudgetExceededData: {
            runId: string;
            label: string;
            agentId: string;
            agentName: string;
            budgetCents: number;
            orgId: string;
            spentCents: number;
        };
        RunBudgetExceededEvent: {
            /** @constant */
            event: "run.budget_exceeded";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["RunBudgetExceededData"];
        };
        RunEndedData: {
            runId: string;
            label: string;
            agentId: string;
            agentName: string;
            budgetCents: number;
            orgId: string;
            /** @enum {string} */
            reason: "ended" | "expired";
            spentCents: number;
        };
        RunEndedEvent: {
            /** @constant */
            event: "run.ended";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["RunEndedData"];
        };
        RunInput: {
            /** Format: uuid */
            agentId: string;
            /** @description Seconds until the run ends by itself. */
            expiresIn: number;
            /** @description What the run and its sub-runs may spend together. It is a hard budget. */
            budgetCents: number;
            label?: string;
            /** @description By provider slug; a provider that is not listed is not allowed. Null: all calls are allowed. */
            policy?: {
                [key: string]: {
                    /** @description A method or *, a space, and a path of the provider. * matches any characters within one segment, ** any number of segments including none. Example: GET /v1/models/** */
                    calls?: string[];
                    models?: {
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        allow?: string[];
                        /** @description Model names, case-insensitive; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Tools of an MCP server. deny wins. Without allow, all that are not denied. */
                    tools?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Resources of an MCP server. deny wins. Without allow, all that are not denied. */
                    resources?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Prompts of an MCP server. deny wins. Without allow, all that are not denied. */
                    prompts?: {
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        allow?: string[];
                        /** @description Names, or URIs of resources; * matches any number of characters. */
                        deny?: string[];
                    };
                    /** @description Limits for tools of an MCP server, beside those of the agent. The first entry that matches counts; all tools that match share it. */
                    toolLimits?: {
                        /** @description Name of a tool, case-insensitive; * matches any number of characters. */
                        tool: string;
                        /** @description Requests in any 60 seconds. */
                        rpm: number;
                    }[];
                };
            } | null;
        };
        RunList: {
            runs: components["schemas"]["Run"][];
            total: number;
            limit: number;
            offset: number;
        };
        RunReply: {
            run: components["schemas"]["Run"];
        };
        RunStarted: {
            run: components["schemas"]["Run"];
            /** @description The gateway token of the run. It is returned only once. */
            secretKey: string;
            /** @description The budget above the run that ends first. Null: the run’s own budget does. */
            boundBy: {
                /** @enum {string} */
                scope: "run" | "agent" | "project" | "org";
                /** Format: uuid */
                id: string;
                remainingCents: number;
            } | null;
        };
        ScimSettings: {
            /** @description The address to enter at the directory. */
            baseUrl: string;
            tokens: components["schemas"]["ScimToken"][];
            /** @description People of the directory. */
            users: number;
            /** @description Those that the directory has not deactivated. */
            activeUsers: number;
            /** @description Those that are members of the organization. */
            members: number;
            /** @description Groups of the directory. */
            groups: number;
        };
        ScimToken: {
            /** Format: uuid */
            id: string;
            name: string;
            tokenPrefix: string;
            /** @description Null: that user was deleted. */
            createdBy: string | null;
            lastUsedAt: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        ScimTokenCreated: {
            token: components["schemas"]["ScimToken"];
            /** @description The complete token. It is returned only once. */
            secretToken: string;
        };
        ScimTokenInput: {
            name: string;
        };
        ScopeSeries: {
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            from: string;
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            to: string;
            /** @enum {string} */
            interval: "hour" | "day";
            timeseries: {
                bucket: string;
                requests: number;
                errors: number;
                tokensIn: number;
                tokensOut: number;
                /** @description US cents, not rounded. */
                costCents: number;
                /** @description US dollars, rounded to six decimals. */
                costUsd: number;
                avgLatency: number;
                rejectedRequests: number;
            }[];
            /** @description Present if groupBy was requested: the ten largest groups, then all others together. */
            groups?: {
                /** @description As in a breakdown. Null: all other groups together. */
                value: string | null;
                name: string | null;
                timeseries: {
                    bucket: string;
                    requests: number | null;
                    errors: number | null;
                    tokensIn: number | null;
                    tokensOut: number | null;
                    costCents: number | null;
                    costUsd: number | null;
                    avgLatency: number | null;
                    rejectedRequests: number | null;
                }[];
            }[];
        };
        ScopeSummary: {
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            from: string;
            /**
             * Format: date-time
             * @description Start of an hour, UTC.
             */
            to: string;
            requests: number;
            errors: number;
            tokensIn: number;
            tokensOut: number;
            /** @description US cents, not rounded. */
            costCents: number;
            /** @description US dollars, rounded to six decimals. */
            costUsd: number;
            avgLatency: number;
            errorRate: number;
            p50Latency: number;
            p95Latency: number;
            rejectedRequests: number;
            /** @description Spend of the current calendar month in US cents. */
            monthCents: number;
            budgetCents: number | null;
            budgetUsedPercent: number | null;
            /** @description Null if the organization, project or agent is less than 24 hours old or deleted. */
            forecast: {
                burnRateCentsPerHour: number;
                /** @description US cents, not rounded. */
                projectedMonthlyCents: number;
                daysUntilBudget: number | null;
            } | null;
        };
        SecondFactorInput: {
            /** @description The password of the user, required again. */
            password: string;
        };
        SecondFactorRejection: {
            error: string;
            /** @constant */
            secondFactor?: true;
        };
        SecondFactorSecret: {
            /** @description Base32, to type into an authenticator app. Shown once. */
            secret: string;
            /** @description The same for a QR code. */
            otpauthUrl: string;
        };
        SecondFactorStatus: {
            /** @description Null: the account has no second factor. */
            enabledAt: string | null;
            recoveryCodesLeft: number;
        };
        SecretRotation: {
            /**
             * @description How long deliveries are signed with both secrets; 0: not at all.
             * @default 86400
             */
            graceSeconds?: number;
        };
        SelfReply: {
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                name: string;
                emailVerified: boolean;
            };
            /** Format: uuid */
            orgId: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
            orgs: components["schemas"]["OrganizationWithRole"][];
        };
        SessionInfo: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "api" | "browser" | "cli";
            /** @description True for the session of this call. */
            current: boolean;
            /** @description The organization in which the session acts, or acted last. */
            orgId: string | null;
            /** @description The highest role of a session that was approved for a device. */
            roleMax: ("viewer" | "member" | "admin" | "owner") | null;
            ip: string;
            userAgent: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            lastSeenAt: string;
            /** Format: date-time */
            expiresAt: string;
        };
        SessionList: {
            sessions: components["schemas"]["SessionInfo"][];
            total: number;
            limit: number;
            offset: number;
        };
        SharedCredential: {
            /** Format: uuid */
            id: string;
            name: string;
            providerSlug: string;
            /**
             * Format: uuid
             * @description Only agents of this project can use the credential; null for all agents of the organization.
             */
            projectId: string | null;
            /** @enum {string} */
            status: "active" | "needs_credentials";
            /** @description Null: the credential is stored. */
            minted: {
                method: string;
                kind: string;
                /**
                 * @description waiting: nothing was needed yet. failing: the last attempt failed; a former token may still serve. not_connected, reconnect_needed: a person must connect the account.
                 * @enum {string}
                 */
                state: "waiting" | "not_connected" | "active" | "failing" | "expired" | "reconnect_needed";
                /** @description Granted scopes, where the provider states them. */
                scope: string | null;
                /**
                 * Format: date-time
                 * @description The last success.
                 */
                mintedAt: string | null;
                /**
                 * Format: date-time
                 * @description Until the gateway uses the present token; null: no expiry, or no token.
                 */
                expiresAt: string | null;
                /**
                 * Format: date-time
                 * @description When a person last connected it. Null: never, or its kind of credential is not connected.
                 */
                connectedAt: string | null;
                failure: {
                    reason: string;
                    /** @description Error code of the token endpoint. */
                    detail: string | null;
                    cause: string;
                    remedy: string;
                    /** Format: date-time */
                    at: string;
                    /**
                     * Format: date-time
                     * @description Null: when a person has acted.
                     */
                    nextAttemptAt: string | null;
                } | null;
            } | null;
            /** @description The current or last rotation with overlap; null: no rotation has started. */
            rotation: {
                /**
                 * @description testing: the new credential is stored and not in use. rejected: the provider does not accept it. retiring: it is in use, and the previous one is kept. retired: the previous one is deleted. rolled_back: the previous one is in use again.
                 * @enum {string}
                 */
                state: "testing" | "rejected" | "retiring" | "retired" | "rolled_back" | "cancelled";
                /** Format: date-time */
                startedAt: string;
                /** @description HTTP status of the last test; null: no answer. */
                testStatus: number | null;
                /** @description Why the last test did not accept the credential. */
                problem: string | null;
                /**
                 * Format: date-time
                 * @description When a credential that could not be tested is tested again.
                 */
                nextTestAt: string | null;
                /**
                 * Format: date-time
                 * @description From when on new calls carry the new credential.
                 */
                inUseSince: string | null;
                /**
                 * Format: date-time
                 * @description Until then the previous credential is kept, even without calls that use it.
                 */
                keepUntil: string | null;
                /**
                 * Format: date-time
                 * @description When the previous credential is deleted at the latest.
                 */
                retiresBy: string | null;
                /** @description Calls and WebSockets in flight with the previous credential; null: not every data plane has reported. */
                callsInFlight: number | null;
                /**
                 * Format: date-time
                 * @description When the rotation ended.
                 */
                endedAt: string | null;
                /** @description The previous credential is compromised and never used again. */
                compromised: boolean;
            } | null;
            /** @description Number of accounts that use the credential. */
            accounts: number;
            /** Format: date-time */
            createdAt: string;
            rotatedAt: string | null;
        };
        SharedCredentialInput: {
            name: string;
            providerSlug: string;
            /** Format: uuid */
            projectId?: string;
            credentials: components["schemas"]["CredentialsInput"];
        };
        SharedCredentialList: {
            credentials: components["schemas"]["SharedCredential"][];
            total: number;
            limit: number;
            offset: number;
        };
        SharedCredentialPatch: {
            name: string;
        };
        SharedCredentialReply: {
            credential: components["schemas"]["SharedCredential"];
        };
        SignupInput: {
            /** Format: email */
            email: string;
            password: string;
            name: string;
            orgName: string;
        };
        SignupReply: {
            token: string;
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                name: string;
            };
            org: {
                /** Format: uuid */
                id: string;
                name: string;
                slug: string;
            };
        };
        SilenceInput: {
            /**
             * Format: date-time
             * @description The end, at most 30 days from now.
             */
            until: string;
        };
        SsoDomain: {
            /** Format: uuid */
            id: string;
            domain: string;
            /** @description Name of the TXT record that verifies the domain. */
            recordName: string;
            /** @description Its content. */
            recordValue: string;
            /** @description Null: not verified. */
            verifiedAt: string | null;
            /** @description Null: never checked. */
            checkedAt: string | null;
        };
        SsoInput: {
            /** @description The issuer, as the provider’s discovery document names it. */
            issuer: string;
            clientId: string;
            /** @description Required with a new issuer or client; otherwise the stored one is kept. */
            clientSecret?: string;
            /** @description The role of people who log in for the first time; null: they need an invitation. */
            defaultRole: "viewer" | "member" | "admin" | null;
            /** @description The claim of the ID token that lists the groups. Default: `groups`; left out: as it is. */
            groupsClaim?: string;
            /** @description The highest role of the groups of a person counts, at each login. In none of these groups: `defaultRole`, or no login. Left out: as it is; empty: groups decide nothing. */
            groupRoles?: {
                /** @description As the claim names it, e.g. a name or an id. */
                group: string;
                /** @enum {string} */
                role: "viewer" | "member" | "admin";
            }[];
            /** @description Requires single sign-on of everybody but this owner, who has a second factor. Left out: as it is; null: not required. */
            breakGlassUserId?: string | null;
        };
        SsoSettings: {
            connection: {
                issuer: string;
                clientId: string;
                /** @description The role of people who log in for the first time; null: they need an invitation. */
                defaultRole: "viewer" | "member" | "admin" | null;
                groupsClaim: string;
                /** @description The highest role of the groups of a person counts, at each login. In none of these groups: `defaultRole`, or no login. Left out: as it is; empty: groups decide nothing. */
                groupRoles: {
                    /** @description As the claim names it, e.g. a name or an id. */
                    group: string;
                    /** @enum {string} */
                    role: "viewer" | "member" | "admin";
                }[];
                /** @description Requires single sign-on of everybody but this owner, who has a second factor. Left out: as it is; null: not required. */
                breakGlassUserId: string | null;
                /** Format: date-time */
                createdAt: string;
            } | null;
            /** @description The redirect URI to register at the provider. */
            redirectUri: string;
            domains: components["schemas"]["SsoDomain"][];
        };
        SsoTestReply: {
            /** @description No step failed. */
            ok: boolean;
            /** @description Steps that need a failed one are left out. */
            steps: {
                name: string;
                /** @description Null: only a login can tell. */
                ok: boolean | null;
                /** @description What was found, without any secret. */
                message: string;
                /** @description What to do; null: nothing. */
                action: string | null;
            }[];
        };
        StartDeviceLoginInput: {
            client: string;
            hostname?: string;
        };
        StartDeviceLoginReply: {
            deviceCode: string;
            userCode: string;
            verificationUrl: string;
            /** @description Seconds. */
            expiresIn: number;
            /** @description Seconds between two polls. */
            interval: number;
        };
        StartInput: {
            /** Format: email */
            email: string;
        };
        StartReply: {
            /** @description Where the browser continues. */
            url: string;
        };
        SuspendedItem: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "member" | "management_token" | "invitation" | "run" | "api_key" | "trust_rule" | "webhook" | "account" | "credential" | "custom_provider" | "sso" | "scim_token";
            /** @description The name; for a member or an invitation the e-mail address, for a webhook the URL. */
            name: string;
            /** @description Further identification: role, token prefix, events, agent or address. */
            detail: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            suspendedAt: string;
        };
        SuspendedList: {
            items: components["schemas"]["SuspendedItem"][];
            total: number;
            limit: number;
            offset: number;
        };
        SuspendedReply: {
            item: components["schemas"]["SuspendedItem"];
        };
        SwitchInput: {
            /** Format: uuid */
            orgId: string;
        };
        SwitchReply: {
            token: string;
            /** Format: uuid */
            orgId: string;
        };
        TestInput: {
            providerSlug: string;
            credentials: components["schemas"]["CredentialsInput"];
            /**
             * Format: uuid
             * @description For methods without a secret: the agent that the token names.
             */
            agentId?: string;
        };
        TestReply: {
            /** @description Whether the provider accepts the credential. */
            ok: boolean;
            /** @description What was called, without the credential; null when nothing was. */
            call: string | null;
            /** @description HTTP status of the provider; null when it did not respond. */
            status: number | null;
            latencyMs: number;
            hint: string | null;
            /** @description Of a minted credential: the exchange, then the call. Empty for stored ones. */
            steps: {
                name: string;
                ok: boolean;
                /** @description What the step answered, without any secret. */
                message: string;
            }[];
        };
        TimePoint: {
            bucket: string;
            requests: number;
            errors: number;
            avgLatency: number;
            costCents: number;
            /** @description US dollars, rounded to six decimals. */
            costUsd: number;
            rejectedRequests: number;
        };
        TimeseriesReply: {
            /** @description Null if the request gave start or end. */
            period: ("24h" | "7d" | "30d" | "90d") | null;
            /** @enum {string} */
            interval: "hour" | "day";
            timeseries: components["schemas"]["TimePoint"][];
        };
        TokenErrorReply: {
            /** @description A code of RFC 6749 §5.2. */
            error: string;
            /** @description What is wrong and what to do. */
            error_description?: string;
        };
        TokenInput: {
            /** @description urn:ietf:params:oauth:grant-type:token-exchange */
            grant_type?: string;
            /** @description Id of the trust rule. */
            trust_rule?: string;
            /** @description The workload’s token. */
            subject_token?: string;
            /** @description urn:ietf:params:oauth:token-type:jwt; urn:ietf:params:oauth:token-type:id_token means the same. */
            subject_token_type?: string;
            /** @description urn:ietf:params:oauth:token-type:access_token, or nothing. */
            requested_token_type?: string;
            /** @description A key of this rule that is still valid: its lifetime begins again, and the response contains it again. */
            renew_token?: string;
            /** @description Ignored. */
            audience?: string;
            /** @description Ignored. */
            resource?: string;
            /** @description Ignored: the agent of the rule decides. */
            scope?: string;
        };
        TokenReply: {
            /** @description A gateway token. */
            access_token: string;
            /** @constant */
            issued_token_type: "urn:ietf:params:oauth:token-type:access_token";
            /** @constant */
            token_type: "Bearer";
            /** @description Seconds. */
            expires_in: number;
        };
        TrustRule: {
            /** Format: uuid */
            id: string;
            name: string;
            /** Format: uuid */
            projectId: string;
            /** Format: uuid */
            agentId: string;
            agentName: string;
            issuer: string;
            /** @description The aud that tokens must have. The gateway generates it for this rule. */
            audience: string;
            /** @enum {string} */
            keySource: "discovery" | "upload";
            /** @description All must hold. Issuers that many share need an immutable id, such as repository_id. */
            conditions: {
                /** @description Name of a claim, or a JSON pointer to a member of one: /kubernetes.io/namespace. */
                claim: string;
                /** @description The claim must be one of these. Values are compared whole. */
                values: string[];
            }[];
            /** @description How long a key of an exchange is valid, in seconds. */
            keyLifetimeSeconds: number;
            /** @description Accepts each token once, by its jti. Not for Kubernetes, which reuses tokens, or SPIFFE, which has no jti. */
            jtiOnce: boolean;
            /**
             * Format: date-time
             * @description When the keys of the issuer were last read or uploaded.
             */
            keysReadAt: string | null;
            /** @description Why the last request for the keys failed; null: it did not. */
            keysFailure: string | null;
            /**
             * Format: date-time
             * @description The last exchange.
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description The last rejected token.
             */
            rejectedAt: string | null;
            /** @description Why it was rejected. */
            rejection: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        TrustRuleInput: {
            name: string;
            /** Format: uuid */
            agentId: string;
            /** @description The iss of the tokens; spiffe://trust-domain for JWT-SVIDs without iss. */
            issuer: string;
            /** @description Public keys of the issuer (RFC 7517). Without it the issuer’s discovery document names them. */
            jwks?: {
                keys: {
                    [key: string]: unknown;
                }[];
            } & {
                [key: string]: unknown;
            };
            /** @description All must hold. Issuers that many share need an immutable id, such as repository_id. */
            conditions: {
                /** @description Name of a claim, or a JSON pointer to a member of one: /kubernetes.io/namespace. */
                claim: string;
                /** @description The claim must be one of these. Values are compared whole. */
                values: string[];
            }[];
            /**
             * @description How long a key of an exchange is valid, in seconds.
             * @default 900
             */
            keyLifetimeSeconds?: number;
            /**
             * @description Accepts each token once, by its jti. Not for Kubernetes, which reuses tokens, or SPIFFE, which has no jti.
             * @default false
             */
            jtiOnce?: boolean;
        };
        TrustRuleList: {
            rules: components["schemas"]["TrustRule"][];
            total: number;
            limit: number;
            offset: number;
        };
        TrustRulePatch: {
            name?: string;
            /** @description All must hold. Issuers that many share need an immutable id, such as repository_id. */
            conditions?: {
                /** @description Name of a claim, or a JSON pointer to a member of one: /kubernetes.io/namespace. */
                claim: string;
                /** @description The claim must be one of these. Values are compared whole. */
                values: string[];
            }[];
            /** @description How long a key of an exchange is valid, in seconds. */
            keyLifetimeSeconds?: number;
            /** @description Accepts each token once, by its jti. Not for Kubernetes, which reuses tokens, or SPIFFE, which has no jti. */
            jtiOnce?: boolean;
            /** @description Public keys of the issuer (RFC 7517). Without it the issuer’s discovery document names them. */
            jwks?: {
                keys: {
                    [key: string]: unknown;
                }[];
            } & {
                [key: string]: unknown;
            };
        };
        TrustRuleReply: {
            rule: components["schemas"]["TrustRule"];
        };
        UsageReply: {
            usage: components["schemas"]["ProviderUsage"][];
        };
        UsageSummary: {
            /** @description Null if the request gave start or end. */
            period: ("24h" | "7d" | "30d" | "90d") | null;
            totalRequests: number;
            errorRate: number;
            p50Latency: number;
            p95Latency: number;
            costCents: number;
            /** @description US dollars, rounded to six decimals. */
            costUsd: number;
            budgetCents: number | null;
            budgetUsd: number | null;
            burnRateCentsPerHour: number;
            projectedMonthlyCents: number;
            /** @description US dollars, rounded to six decimals. */
            projectedMonthlyUsd: number;
            daysUntilBudget: number | null;
            rejectedRequests: number;
        };
        UsageThresholdData: {
            agentId: string;
            agentName: string;
            thresholdPercent: number;
            budgetCentsMonthly: number;
            spentCents: number;
            orgId: string;
        };
        UsageThresholdEvent: {
            /** @constant */
            event: "usage.threshold";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["UsageThresholdData"];
        };
        VerifyInput: {
            token: string;
            /** @description The password of the account. With a wrong password the address stays unverified. */
            password?: string;
        };
        WebhookPausedData: {
            endpointId: string;
            failedAttempts: number;
            failingSince: string;
            orgId: string;
        };
        WebhookPausedEvent: {
            /** @constant */
            event: "webhook.paused";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["WebhookPausedData"];
        };
        WebhookTestInput: {
            /**
             * @description An event that the endpoint subscribes to. Default: the first one.
             * @enum {string}
             */
            event?: "agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected";
        };
    };
    responses: {
        /** @description Something in the request is wrong; the text names the field. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "name is required"
                 *     }
                 */
                "application/json": components["schemas"]["ErrorReply"];
            };
        };
        /** @description The credentials are missing, invalid or expired. */
        Unauthenticated: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "the session token is invalid or expired: log in, or refresh it"
                 *     }
                 */
                "application/json": components["schemas"]["ErrorReply"];
            };
        };
        /** @description The caller may not do this. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "this requires the role admin or higher; your role in this organization is viewer"
                 *     }
                 */
                "application/json": components["schemas"]["ErrorReply"];
            };
        };
        /** @description The resource does not exist or belongs to another organization. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "no such agent"
                 *     }
                 */
                "application/json": components["schemas"]["ErrorReply"];
            };
        };
        /** @description The request conflicts with the current state; the text says why. */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "the organization already has 1000 shared credentials: delete one first"
                 *     }
                 */
                "application/json": components["schemas"]["ErrorReply"];
            };
        };
        /** @description The body has more than 1 MiB. */
        TooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "the body is larger than 1048576 bytes"
                 *     }
                 */
                "application/json": components["schemas"]["ErrorReply"];
            };
        };
        /** @description Too many requests, concurrent or in a time window; see Retry-After. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "too many logins: try again in 30 seconds"
                 *     }
                 */
                "application/json": components["schemas"]["ErrorReply"];
            };
        };
        /** @description A fault of the gateway; the text names the request. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "internal error, request 7d1f6c0e-52b8-4a63-9f0d-3b8e5a2c4d13"
                 *     }
                 */
                "application/json": components["schemas"]["ErrorReply"];
            };
        };
        /** @description The database is unavailable; see Retry-After. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": "the database is unavailable. Retry in a few seconds."
                 *     }
                 */
                "application/json": components["schemas"]["ErrorReply"];
            };
        };
    };
    parameters: {
        /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: {
        /** @description Seconds to wait. */
        RetryAfter: number;
        /** @description Names this call in the logs of the gateway. */
        RequestId: string;
    };
    pathItems: never;
}
export type AbuseDetectedData = components['schemas']['AbuseDetectedData'];
export type AbuseDetectedEvent = components['schemas']['AbuseDetectedEvent'];
export type AcceptInput = components['schemas']['AcceptInput'];
export type AcceptRefused = components['schemas']['AcceptRefused'];
export type Account = components['schemas']['Account'];
export type AccountInput = components['schemas']['AccountInput'];
export type AccountList = components['schemas']['AccountList'];
export type AccountPatch = components['schemas']['AccountPatch'];
export type AccountReply = components['schemas']['AccountReply'];
export type AccountReportReply = components['schemas']['AccountReportReply'];
export type AccountTools = components['schemas']['AccountTools'];
export type AddressInput = components['schemas']['AddressInput'];
export type AdjustmentInput = components['schemas']['AdjustmentInput'];
export type AdjustmentReply = components['schemas']['AdjustmentReply'];
export type Agent = components['schemas']['Agent'];
export type AgentBudgetExceededData = components['schemas']['AgentBudgetExceededData'];
export type AgentBudgetExceededEvent = components['schemas']['AgentBudgetExceededEvent'];
export type AgentCreatedData = components['schemas']['AgentCreatedData'];
export type AgentCreatedEvent = components['schemas']['AgentCreatedEvent'];
export type AgentCreatedReply = components['schemas']['AgentCreatedReply'];
export type AgentDeletedData = components['schemas']['AgentDeletedData'];
export type AgentDeletedEvent = components['schemas']['AgentDeletedEvent'];
export type AgentFigures = components['schemas']['AgentFigures'];
export type AgentFiguresReply = components['schemas']['AgentFiguresReply'];
export type AgentInput = components['schemas']['AgentInput'];
export type AgentList = components['schemas']['AgentList'];
export type AgentPatch = components['schemas']['AgentPatch'];
export type AgentReply = components['schemas']['AgentReply'];
export type AgentSeries = components['schemas']['AgentSeries'];
export type AgentStatusInput = components['schemas']['AgentStatusInput'];
export type Alert = components['schemas']['Alert'];
export type AlertList = components['schemas']['AlertList'];
export type AlertOpenedData = components['schemas']['AlertOpenedData'];
export type AlertOpenedEvent = components['schemas']['AlertOpenedEvent'];
export type AlertReply = components['schemas']['AlertReply'];
export type AlertResolvedData = components['schemas']['AlertResolvedData'];
export type AlertResolvedEvent = components['schemas']['AlertResolvedEvent'];
export type AlertRule = components['schemas']['AlertRule'];
export type AlertRuleInput = components['schemas']['AlertRuleInput'];
export type AlertRuleList = components['schemas']['AlertRuleList'];
export type AlertRulePatch = components['schemas']['AlertRulePatch'];
export type AlertRuleReply = components['schemas']['AlertRuleReply'];
export type ApiKey = components['schemas']['ApiKey'];
export type ApiKeyCreatedReply = components['schemas']['ApiKeyCreatedReply'];
export type ApiKeyDetails = components['schemas']['ApiKeyDetails'];
export type ApiKeyDetailsReply = components['schemas']['ApiKeyDetailsReply'];
export type ApiKeyInput = components['schemas']['ApiKeyInput'];
export type ApiKeyList = components['schemas']['ApiKeyList'];
export type ApiKeyPatch = components['schemas']['ApiKeyPatch'];
export type ApiKeyReply = components['schemas']['ApiKeyReply'];
export type ApiKeyRevoked = components['schemas']['ApiKeyRevoked'];
export type ApproveDeviceInput = components['schemas']['ApproveDeviceInput'];
export type ArchiveReply = components['schemas']['ArchiveReply'];
export type ArchiveVerifyInput = components['schemas']['ArchiveVerifyInput'];
export type ArchiveVerifyReply = components['schemas']['ArchiveVerifyReply'];
export type AttentionReply = components['schemas']['AttentionReply'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditEntryData = components['schemas']['AuditEntryData'];
export type AuditEntryEvent = components['schemas']['AuditEntryEvent'];
export type AuditList = components['schemas']['AuditList'];
export type BillingAccountInput = components['schemas']['BillingAccountInput'];
export type BillingAccountPatch = components['schemas']['BillingAccountPatch'];
export type BillingAccountReply = components['schemas']['BillingAccountReply'];
export type BillingReport = components['schemas']['BillingReport'];
export type Breakdown = components['schemas']['Breakdown'];
export type BrowserLoginInput = components['schemas']['BrowserLoginInput'];
export type BudgetExceededData = components['schemas']['BudgetExceededData'];
export type BudgetExceededEvent = components['schemas']['BudgetExceededEvent'];
export type BudgetRow = components['schemas']['BudgetRow'];
export type BudgetRowInput = components['schemas']['BudgetRowInput'];
export type BudgetThresholdData = components['schemas']['BudgetThresholdData'];
export type BudgetThresholdEvent = components['schemas']['BudgetThresholdEvent'];
export type Call = components['schemas']['Call'];
export type CallCheckInput = components['schemas']['CallCheckInput'];
export type CallCheckReply = components['schemas']['CallCheckReply'];
export type CallReply = components['schemas']['CallReply'];
export type CallsRejectedData = components['schemas']['CallsRejectedData'];
export type CallsRejectedEvent = components['schemas']['CallsRejectedEvent'];
export type CallsReply = components['schemas']['CallsReply'];
export type ChangePasswordInput = components['schemas']['ChangePasswordInput'];
export type CheckInput = components['schemas']['CheckInput'];
export type CodeInput = components['schemas']['CodeInput'];
export type CompareReply = components['schemas']['CompareReply'];
export type ComparedAgent = components['schemas']['ComparedAgent'];
export type ConnectReply = components['schemas']['ConnectReply'];
export type ConnectionInput = components['schemas']['ConnectionInput'];
export type ConnectionReply = components['schemas']['ConnectionReply'];
export type CreatedItems = components['schemas']['CreatedItems'];
export type CredentialAcceptedData = components['schemas']['CredentialAcceptedData'];
export type CredentialAcceptedEvent = components['schemas']['CredentialAcceptedEvent'];
export type CredentialRefreshFailedData = components['schemas']['CredentialRefreshFailedData'];
export type CredentialRefreshFailedEvent = components['schemas']['CredentialRefreshFailedEvent'];
export type CredentialRefreshedData = components['schemas']['CredentialRefreshedData'];
export type CredentialRefreshedEvent = components['schemas']['CredentialRefreshedEvent'];
export type CredentialRefusedData = components['schemas']['CredentialRefusedData'];
export type CredentialRefusedEvent = components['schemas']['CredentialRefusedEvent'];
export type CredentialRetiredData = components['schemas']['CredentialRetiredData'];
export type CredentialRetiredEvent = components['schemas']['CredentialRetiredEvent'];
export type CredentialRolledBackData = components['schemas']['CredentialRolledBackData'];
export type CredentialRolledBackEvent = components['schemas']['CredentialRolledBackEvent'];
export type CredentialRotatedData = components['schemas']['CredentialRotatedData'];
export type CredentialRotatedEvent = components['schemas']['CredentialRotatedEvent'];
export type CredentialRotationFailedData = components['schemas']['CredentialRotationFailedData'];
export type CredentialRotationFailedEvent = components['schemas']['CredentialRotationFailedEvent'];
export type CredentialUsedElsewhereData = components['schemas']['CredentialUsedElsewhereData'];
export type CredentialUsedElsewhereEvent = components['schemas']['CredentialUsedElsewhereEvent'];
export type CredentialsInput = components['schemas']['CredentialsInput'];
export type CustomProviderInput = components['schemas']['CustomProviderInput'];
export type CustomProviderPut = components['schemas']['CustomProviderPut'];
export type CustomProviderReply = components['schemas']['CustomProviderReply'];
export type CustomProviderView = components['schemas']['CustomProviderView'];
export type Deleted = components['schemas']['Deleted'];
export type DeletionInput = components['schemas']['DeletionInput'];
export type Delivery = components['schemas']['Delivery'];
export type DeliveryDetail = components['schemas']['DeliveryDetail'];
export type DeliveryDetailReply = components['schemas']['DeliveryDetailReply'];
export type DeliveryList = components['schemas']['DeliveryList'];
export type DeliveryReply = components['schemas']['DeliveryReply'];
export type DomainInput = components['schemas']['DomainInput'];
export type DomainReply = components['schemas']['DomainReply'];
export type Endpoint = components['schemas']['Endpoint'];
export type EndpointCreated = components['schemas']['EndpointCreated'];
export type EndpointDeleted = components['schemas']['EndpointDeleted'];
export type EndpointInput = components['schemas']['EndpointInput'];
export type EndpointList = components['schemas']['EndpointList'];
export type EndpointPatch = components['schemas']['EndpointPatch'];
export type EndpointReply = components['schemas']['EndpointReply'];
export type ErrorReply = components['schemas']['ErrorReply'];
export type EventList = components['schemas']['EventList'];
export type EventTypeList = components['schemas']['EventTypeList'];
export type ExportAgentCallsReply = components['schemas']['ExportAgentCallsReply'];
export type GetConfigReply = components['schemas']['GetConfigReply'];
export type GetProviderReply = components['schemas']['GetProviderReply'];
export type GetStatusReply = components['schemas']['GetStatusReply'];
export type InvitationDetails = components['schemas']['InvitationDetails'];
export type InviteInput = components['schemas']['InviteInput'];
export type InvitedReply = components['schemas']['InvitedReply'];
export type IssuerPatch = components['schemas']['IssuerPatch'];
export type IssuerReply = components['schemas']['IssuerReply'];
export type LimitReplayInput = components['schemas']['LimitReplayInput'];
export type LimitReplayReply = components['schemas']['LimitReplayReply'];
export type LimitWouldRejectData = components['schemas']['LimitWouldRejectData'];
export type LimitWouldRejectEvent = components['schemas']['LimitWouldRejectEvent'];
export type LineList = components['schemas']['LineList'];
export type LinkInput = components['schemas']['LinkInput'];
export type ListCircuitsReply = components['schemas']['ListCircuitsReply'];
export type ListProvidersReply = components['schemas']['ListProvidersReply'];
export type ListedAccountReply = components['schemas']['ListedAccountReply'];
export type ListedProvider = components['schemas']['ListedProvider'];
export type LogRecord = components['schemas']['LogRecord'];
export type LoginInput = components['schemas']['LoginInput'];
export type LoginReply = components['schemas']['LoginReply'];
export type LogsReply = components['schemas']['LogsReply'];
export type LookUpDeviceInput = components['schemas']['LookUpDeviceInput'];
export type LookUpDeviceReply = components['schemas']['LookUpDeviceReply'];
export type LookupInput = components['schemas']['LookupInput'];
export type ManagementToken = components['schemas']['ManagementToken'];
export type ManagementTokenCreated = components['schemas']['ManagementTokenCreated'];
export type ManagementTokenInput = components['schemas']['ManagementTokenInput'];
export type ManagementTokenList = components['schemas']['ManagementTokenList'];
export type MeReply = components['schemas']['MeReply'];
export type Member = components['schemas']['Member'];
export type MemberList = components['schemas']['MemberList'];
export type MemberReply = components['schemas']['MemberReply'];
export type MemberSessionList = components['schemas']['MemberSessionList'];
export type MergedCall = components['schemas']['MergedCall'];
export type MergedCallsReply = components['schemas']['MergedCallsReply'];
export type Ok = components['schemas']['Ok'];
export type OrganizationDeletion = components['schemas']['OrganizationDeletion'];
export type OrganizationDeletionList = components['schemas']['OrganizationDeletionList'];
export type OrganizationInput = components['schemas']['OrganizationInput'];
export type OrganizationPatch = components['schemas']['OrganizationPatch'];
export type OrganizationReply = components['schemas']['OrganizationReply'];
export type OrganizationSettings = components['schemas']['OrganizationSettings'];
export type OrganizationWithRole = components['schemas']['OrganizationWithRole'];
export type OverrideCircuitInput = components['schemas']['OverrideCircuitInput'];
export type OverrideCircuitReply = components['schemas']['OverrideCircuitReply'];
export type PersonalAgentList = components['schemas']['PersonalAgentList'];
export type PersonalAgentProject = components['schemas']['PersonalAgentProject'];
export type PersonalKeyInput = components['schemas']['PersonalKeyInput'];
export type PersonalKeyReply = components['schemas']['PersonalKeyReply'];
export type PollDeviceLoginInput = components['schemas']['PollDeviceLoginInput'];
export type Preference = components['schemas']['Preference'];
export type PreferenceInput = components['schemas']['PreferenceInput'];
export type PreferenceList = components['schemas']['PreferenceList'];
export type PreferenceReply = components['schemas']['PreferenceReply'];
export type PriceDriftData = components['schemas']['PriceDriftData'];
export type PriceDriftEvent = components['schemas']['PriceDriftEvent'];
export type PriceListing = components['schemas']['PriceListing'];
export type Project = components['schemas']['Project'];
export type ProjectInput = components['schemas']['ProjectInput'];
export type ProjectList = components['schemas']['ProjectList'];
export type ProjectPatch = components['schemas']['ProjectPatch'];
export type ProjectReply = components['schemas']['ProjectReply'];
export type ProjectWithBudgets = components['schemas']['ProjectWithBudgets'];
export type ProviderBreakdown = components['schemas']['ProviderBreakdown'];
export type ProviderCircuitClosedData = components['schemas']['ProviderCircuitClosedData'];
export type ProviderCircuitClosedEvent = components['schemas']['ProviderCircuitClosedEvent'];
export type ProviderCircuitOpenedData = components['schemas']['ProviderCircuitOpenedData'];
export type ProviderCircuitOpenedEvent = components['schemas']['ProviderCircuitOpenedEvent'];
export type ProviderListing = components['schemas']['ProviderListing'];
export type ProviderUsage = components['schemas']['ProviderUsage'];
export type ProvidersReply = components['schemas']['ProvidersReply'];
export type RecoveryCodes = components['schemas']['RecoveryCodes'];
export type RefreshReply = components['schemas']['RefreshReply'];
export type Refusals = components['schemas']['Refusals'];
export type RejectedCall = components['schemas']['RejectedCall'];
export type RejectedCallsReply = components['schemas']['RejectedCallsReply'];
export type RenameInput = components['schemas']['RenameInput'];
export type ReplayInput = components['schemas']['ReplayInput'];
export type ReplayReply = components['schemas']['ReplayReply'];
export type ResetInput = components['schemas']['ResetInput'];
export type Restored = components['schemas']['Restored'];
export type RoleInput = components['schemas']['RoleInput'];
export type RotateInput = components['schemas']['RotateInput'];
export type RotationActionInput = components['schemas']['RotationActionInput'];
export type RotationInput = components['schemas']['RotationInput'];
export type RotationReply = components['schemas']['RotationReply'];
export type Run = components['schemas']['Run'];
export type RunBudgetExceededData = components['schemas']['RunBudgetExceededData'];
export type RunBudgetExceededEvent = components['schemas']['RunBudgetExceededEvent'];
export type RunEndedData = components['schemas']['RunEndedData'];
export type RunEndedEvent = components['schemas']['RunEndedEvent'];
export type RunInput = components['schemas']['RunInput'];
export type RunList = components['schemas']['RunList'];
export type RunReply = components['schemas']['RunReply'];
export type RunStarted = components['schemas']['RunStarted'];
export type ScimSettings = components['schemas']['ScimSettings'];
export type ScimToken = components['schemas']['ScimToken'];
export type ScimTokenCreated = components['schemas']['ScimTokenCreated'];
export type ScimTokenInput = components['schemas']['ScimTokenInput'];
export type ScopeSeries = components['schemas']['ScopeSeries'];
export type ScopeSummary = components['schemas']['ScopeSummary'];
export type SecondFactorInput = components['schemas']['SecondFactorInput'];
export type SecondFactorRejection = components['schemas']['SecondFactorRejection'];
export type SecondFactorSecret = components['schemas']['SecondFactorSecret'];
export type SecondFactorStatus = components['schemas']['SecondFactorStatus'];
export type SecretRotation = components['schemas']['SecretRotation'];
export type SelfReply = components['schemas']['SelfReply'];
export type SessionInfo = components['schemas']['SessionInfo'];
export type SessionList = components['schemas']['SessionList'];
export type SharedCredential = components['schemas']['SharedCredential'];
export type SharedCredentialInput = components['schemas']['SharedCredentialInput'];
export type SharedCredentialList = components['schemas']['SharedCredentialList'];
export type SharedCredentialPatch = components['schemas']['SharedCredentialPatch'];
export type SharedCredentialReply = components['schemas']['SharedCredentialReply'];
export type SignupInput = components['schemas']['SignupInput'];
export type SignupReply = components['schemas']['SignupReply'];
export type SilenceInput = components['schemas']['SilenceInput'];
export type SsoDomain = components['schemas']['SsoDomain'];
export type SsoInput = components['schemas']['SsoInput'];
export type SsoSettings = components['schemas']['SsoSettings'];
export type SsoTestReply = components['schemas']['SsoTestReply'];
export type StartDeviceLoginInput = components['schemas']['StartDeviceLoginInput'];
export type StartDeviceLoginReply = components['schemas']['StartDeviceLoginReply'];
export type StartInput = components['schemas']['StartInput'];
export type StartReply = components['schemas']['StartReply'];
export type SuspendedItem = components['schemas']['SuspendedItem'];
export type SuspendedList = components['schemas']['SuspendedList'];
export type SuspendedReply = components['schemas']['SuspendedReply'];
export type SwitchInput = components['schemas']['SwitchInput'];
export type SwitchReply = components['schemas']['SwitchReply'];
export type TestInput = components['schemas']['TestInput'];
export type TestReply = components['schemas']['TestReply'];
export type TimePoint = components['schemas']['TimePoint'];
export type TimeseriesReply = components['schemas']['TimeseriesReply'];
export type TokenErrorReply = components['schemas']['TokenErrorReply'];
export type TokenInput = components['schemas']['TokenInput'];
export type TokenReply = components['schemas']['TokenReply'];
export type TrustRule = components['schemas']['TrustRule'];
export type TrustRuleInput = components['schemas']['TrustRuleInput'];
export type TrustRuleList = components['schemas']['TrustRuleList'];
export type TrustRulePatch = components['schemas']['TrustRulePatch'];
export type TrustRuleReply = components['schemas']['TrustRuleReply'];
export type UsageReply = components['schemas']['UsageReply'];
export type UsageSummary = components['schemas']['UsageSummary'];
export type UsageThresholdData = components['schemas']['UsageThresholdData'];
export type UsageThresholdEvent = components['schemas']['UsageThresholdEvent'];
export type VerifyInput = components['schemas']['VerifyInput'];
export type WebhookPausedData = components['schemas']['WebhookPausedData'];
export type WebhookPausedEvent = components['schemas']['WebhookPausedEvent'];
export type WebhookTestInput = components['schemas']['WebhookTestInput'];
export type ResponseBadRequest = components['responses']['BadRequest'];
export type ResponseUnauthenticated = components['responses']['Unauthenticated'];
export type ResponseForbidden = components['responses']['Forbidden'];
export type ResponseNotFound = components['responses']['NotFound'];
export type ResponseConflict = components['responses']['Conflict'];
export type ResponseTooLarge = components['responses']['TooLarge'];
export type ResponseTooManyRequests = components['responses']['TooManyRequests'];
export type ResponseInternalError = components['responses']['InternalError'];
export type ResponseUnavailable = components['responses']['Unavailable'];
export type ParameterIdempotencyKey = components['parameters']['IdempotencyKey'];
export type HeaderRetryAfter = components['headers']['RetryAfter'];
export type HeaderRequestId = components['headers']['RequestId'];
export type $defs = Record<string, never>;
export interface operations {
    listAgents: {
        parameters: {
            query: {
                limit?: number;
                offset?: number;
                projectId: string;
                /** @description Part of the name or the slug. Case-insensitive. */
                search?: string;
                status?: "active" | "paused" | "revoked";
                sort?: "createdAt" | "name";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the agents of a project */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentInput"];
            };
        };
        responses: {
            /** @description Create an agent */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentCreatedReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an agent with its limits */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete an agent with its keys and provider accounts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentPatch"];
            };
        };
        responses: {
            /** @description Change the name, limits, budget or policy of an agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    checkCall: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallCheckInput"];
            };
        };
        responses: {
            /** @description Check whether a call of an agent would pass its policy */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallCheckReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setAgentStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentStatusInput"];
            };
        };
        responses: {
            /** @description Pause, resume or revoke an agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAlertRules: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                sort?: "createdAt" | "name";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List alert rules with their last evaluation, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAlertRule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRuleInput"];
            };
        };
        responses: {
            /** @description Create an alert rule */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an alert rule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete an alert rule and its alerts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRulePatch"];
            };
        };
        responses: {
            /** @description Change, disable or silence an alert rule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description open: acknowledged ones, too. */
                state?: "open" | "resolved";
                ruleId?: string;
                sort?: "openedAt" | "ruleName" | "resolvedAt";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List alerts of alert rules, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    acknowledgeAlert: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Acknowledge an open alert */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    silenceAlert: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SilenceInput"];
            };
        };
        responses: {
            /** @description Silence the rule of an alert until a time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                agentId?: string;
                projectId?: string;
                /** @description Without it, active and expired keys. Only `revoked` lists revoked ones. */
                status?: "active" | "expired" | "revoked";
                /** @description Part of the name of the key or its agent, or of keyPrefix. */
                search?: string;
                /** @description true: only keys that were never used; false: only keys that were used. */
                neverUsed?: boolean;
                /** @description Only keys that were created before this time and not used since. */
                unusedSince?: string;
                sort?: "createdAt" | "name" | "lastUsedAt" | "expiresAt";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List API keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyInput"];
            };
        };
        responses: {
            /** @description Create an API key; its gateway token is returned only once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyCreatedReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an API key, also a revoked one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyDetailsReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke an API key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyRevoked"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyPatch"];
            };
        };
        responses: {
            /** @description Rename an API key or change its expiry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotationInput"];
            };
        };
        responses: {
            /** @description Rotate an API key; the old one stays valid for a grace period */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotationReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listArchivedDays: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the days of the ledger that are in the archive */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchiveReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    verifyArchivedDay: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArchiveVerifyInput"];
            };
        };
        responses: {
            /** @description Read an archived day back and compare it with its manifest */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchiveVerifyReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAttention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List what needs action: budgets, credentials, keys, webhooks, circuits */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttentionReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                /** @description Id of a user or of a management token. */
                actorId?: string;
                action?: string;
                start?: string;
                end?: string;
                targetType?: string;
                targetId?: string;
                /** @description Part of the e-mail address or name of the actor, the action, the id of its target or the IP address of the client. Case-insensitive. */
                search?: string;
                sort?: "at";
                order?: "asc" | "desc";
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the entries of the audit trail, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePasswordInput"];
            };
        };
        responses: {
            /** @description Change the password and revoke all other sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    startDeviceLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartDeviceLoginInput"];
            };
        };
        responses: {
            /** @description Start a device login */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartDeviceLoginReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    approveDevice: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproveDeviceInput"];
            };
        };
        responses: {
            /** @description Approve a device login */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    denyDevice: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LookUpDeviceInput"];
            };
        };
        responses: {
            /** @description Deny a device login */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    lookUpDevice: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LookUpDeviceInput"];
            };
        };
        responses: {
            /** @description Look up a device login by its user code */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LookUpDeviceReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    pollDeviceLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PollDeviceLoginInput"];
            };
        };
        responses: {
            /** @description Poll a device login for its session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    forgotPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddressInput"];
            };
        };
        responses: {
            /** @description Mail a link to set a new password */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    logIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginInput"];
            };
        };
        responses: {
            /** @description Log in with e-mail and password */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            /** @description The credentials are missing, invalid or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    logOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Log out: revoke the session of this call */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    refreshSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Exchange a session token for a new one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefreshReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resendVerification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddressInput"];
            };
        };
        responses: {
            /** @description Resend the verification e-mail */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resetPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResetInput"];
            };
        };
        responses: {
            /** @description Set a new password with the token from a mail */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    signUp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignupInput"];
            };
        };
        responses: {
            /** @description Create an account and its organization */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignupReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    switchOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SwitchInput"];
            };
        };
        responses: {
            /** @description Get a token for another organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SwitchReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    verifyEmail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyInput"];
            };
        };
        responses: {
            /** @description Confirm an e-mail address with the token from a mail */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getBillingReport: {
        parameters: {
            query?: {
                /** @description UTC month, `YYYY-MM`. */
                month?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Compare a month of the ledger with the reports of the providers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingReport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createBillingAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BillingAccountInput"];
            };
        };
        responses: {
            /** @description Store an admin key with which the gateway reads reports */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingAccountReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteBillingAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a billing account with its lines and adjustments */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateBillingAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BillingAccountPatch"];
            };
        };
        responses: {
            /** @description Change the name, admin key or threshold of a billing account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingAccountReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    checkBillingAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckInput"];
            };
        };
        responses: {
            /** @description Read the provider’s reports of a month now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountReportReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listBillingLines: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description UTC month, `YYYY-MM`. */
                month?: string;
                /** @description Sums per day (the default), hour, key or model; `line`: no sums. */
                by?: "day" | "hour" | "key" | "model" | "line";
                day?: string;
                /** @description The redacted key, exactly. */
                key?: string;
                model?: string;
                state?: "match" | "pending" | "drift" | "unbilled" | "ambiguous" | "unattributed";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List differences by day, hour, key or model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LineList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createBillingAdjustment: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdjustmentInput"];
            };
        };
        responses: {
            /** @description Accept a difference of a month, with a reason */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdjustmentReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCircuits: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                state?: "CLOSED" | "HALF_OPEN" | "OPEN";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the circuit breakers of the organization’s providers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCircuitsReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    overrideCircuit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OverrideCircuitInput"];
            };
        };
        responses: {
            /** @description Close a circuit breaker of the organization, or hold it open for at most a day */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OverrideCircuitReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the public configuration */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetConfigReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    finishConnection: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectionInput"];
            };
        };
        responses: {
            /** @description Finish a connection with the answer of the provider */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCredentials: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                projectId?: string;
                providerSlug?: string;
                status?: "active" | "needs_credentials";
                /** @description Part of the name. Case-insensitive. */
                search?: string;
                sort?: "createdAt" | "name" | "providerSlug" | "accounts" | "rotatedAt";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List shared credentials */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedCredentialList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createCredential: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SharedCredentialInput"];
            };
        };
        responses: {
            /** @description Create a credential that the provider accounts of many agents share */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedCredentialReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a shared credential without its value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedCredentialReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a shared credential that no account uses */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    renameCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SharedCredentialPatch"];
            };
        };
        responses: {
            /** @description Rename a shared credential */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedCredentialReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    connectCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Begin to connect a shared credential at its provider */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    disconnectCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Disconnect a shared credential and revoke its grant at the provider */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateCredential: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateInput"];
            };
        };
        responses: {
            /** @description Rotate a shared credential for all accounts that use it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedCredentialReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    changeCredentialRotation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotationActionInput"];
            };
        };
        responses: {
            /** @description Cancel, roll back or end a rotation with overlap of a shared credential */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedCredentialReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Test whether the provider accepts a shared credential */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCustomProviders: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All providers, with those of the organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderListing"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createCustomProvider: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomProviderInput"];
            };
        };
        responses: {
            /** @description Add a provider of the organization */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomProviderReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateCustomProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomProviderPut"];
            };
        };
        responses: {
            /** @description Update a custom provider */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomProviderReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteCustomProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a custom provider with its accounts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDeletedOrganizations: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List deletions of the user’s organizations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationDeletionList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEventMail: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List which members get which events by e-mail */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreferenceList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setEventMail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreferenceInput"];
            };
        };
        responses: {
            /** @description Set the events that a member gets by e-mail */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreferenceReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                event?: "agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected";
                /** @description Events of this agent; the agent may have been deleted. */
                agentId?: string;
                start?: string;
                end?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List events, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEventTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the types of events with their texts and samples */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypeList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptInput"];
            };
        };
        responses: {
            /** @description Accept an invitation with the token from a mail */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            /** @description The credentials are missing, invalid or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptRefused"];
                };
            };
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    lookUpInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LookupInput"];
            };
        };
        responses: {
            /** @description Get the invitation of a token from a mail */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationDetails"];
                };
            };
            400: components["responses"]["BadRequest"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getIssuer: {
        parameters: {
            query?: {
                /** @description Fills the instructions with its subject. */
                agentId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the issuer of the organization, and what to enter at providers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuerReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateIssuer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssuerPatch"];
            };
        };
        responses: {
            /** @description Set manual or automatic activation of signing keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuerReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createIssuerKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Publish the next key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuerReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    activateIssuerKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Activate the pending signing key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuerReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayLimits: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LimitReplayInput"];
            };
        };
        responses: {
            /** @description Replay recorded calls against other limits */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitReplayReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listManagementTokens: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                sort?: "createdAt" | "name" | "role" | "lastUsedAt" | "expiresAt";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List management tokens */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManagementTokenList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createManagementToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ManagementTokenInput"];
            };
        };
        responses: {
            /** @description Create a management token, which is returned only once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManagementTokenCreated"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteManagementToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a management token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the current user or management token, with organization and role */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MeReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenameInput"];
            };
        };
        responses: {
            /** @description Change the user’s name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listMembers: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Part of the name or the e-mail address. Case-insensitive. */
                search?: string;
                role?: "viewer" | "member" | "admin" | "owner";
                status?: "active" | "invited";
                sort?: "createdAt" | "name" | "email" | "role" | "lastSeenAt";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List members and open invitations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    inviteMember: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InviteInput"];
            };
        };
        responses: {
            /** @description Invite a member by e-mail */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitedReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    leaveOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Leave the organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeMember: {
        parameters: {
            query?: {
                /** @description Also ends what the list `created` has: gateway tokens, webhooks, running runs, SCIM tokens and trust rules. */
                revoke?: "created";
            };
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a member or revoke an invitation */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setMemberRole: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleInput"];
            };
        };
        responses: {
            /** @description Change the role of a member */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCreatedByMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List what a member created: tokens, webhooks, running runs, trust rules */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedItems"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resendInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Resend an invitation */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitedReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listMemberSessions: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the sessions of a member in this organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberSessionList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    endMemberSessions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End all sessions of a member in this organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    endMemberSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End a session of a member in this organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createOrganization: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrganizationInput"];
            };
        };
        responses: {
            /** @description Create an organization */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the organization with its budget */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationSettings"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeletionInput"];
            };
        };
        responses: {
            /** @description Delete the organization after seven days, in which it can be restored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrganizationPatch"];
            };
        };
        responses: {
            /** @description Rename the organization or set its budget */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationSettings"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    restoreOrganization: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Restore an organization within seven days of its deletion */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Restored"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPersonalAgents: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the projects that allow personal agents, and your personal agents */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonalAgentList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createPersonalAgentKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PersonalKeyInput"];
            };
        };
        responses: {
            /** @description Create a gateway token for your personal agent; the first one also creates the agent */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonalKeyReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokePersonalAgentKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke a gateway token of your personal agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPrices: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Slug of the provider. */
                provider?: string;
                /** @description Prices of exactly this model, listed or not, or of this tool. */
                model?: string;
                /** @description Part of the model’s name, case-insensitive. */
                search?: string;
                source?: "file" | "built_in" | "library" | "fallback";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List prices and their sources */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceListing"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listProjects: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Part of the name or the slug. Case-insensitive. */
                search?: string;
                sort?: "createdAt" | "name";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List projects */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectInput"];
            };
        };
        responses: {
            /** @description Create a project */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a project */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete an empty project */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectPatch"];
            };
        };
        responses: {
            /** @description Change the name, budgets, defaults for new agents or personal agents of a project */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listProviders: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Built-in providers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListProvidersReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                agentId?: string;
                projectId?: string;
                providerSlug?: string;
                status?: "active" | "needs_credentials";
                /** @description Only accounts that use this shared credential. */
                credentialId?: string;
                sort?: "createdAt" | "agentName" | "providerSlug" | "lastUsedAt";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the provider accounts of an agent, a project or the organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountInput"];
            };
        };
        responses: {
            /** @description Create a provider account for an agent */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestInput"];
            };
        };
        responses: {
            /** @description Test whether a provider accepts credentials, without storing them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a provider account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListedAccountReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a provider account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountPatch"];
            };
        };
        responses: {
            /** @description Allow or forbid sensitive paths for a provider account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    connectAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Begin to connect a provider account at its provider */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    disconnectAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Disconnect a provider account and revoke its grant at the provider */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateInput"];
            };
        };
        responses: {
            /** @description Rotate the credentials of a provider account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    changeAccountRotation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotationActionInput"];
            };
        };
        responses: {
            /** @description Cancel, roll back or end a rotation with overlap of a provider account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Test whether the provider accepts the credentials of an account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAccountTools: {
        parameters: {
            query?: {
                /** @description Ask the server again. Otherwise the list may be 10 minutes old. */
                refresh?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the tools of the MCP server of an account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountTools"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A built-in provider with its sensitive calls and its SDK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetProviderReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                agentId?: string;
                projectId?: string;
                /** @description Only the sub-runs of this run. */
                parentId?: string;
                /** @description The whole tree of this top run. */
                rootId?: string;
                state?: "running" | "ended" | "expired";
                /** @description Part of the label, or an id. */
                search?: string;
                sort?: "createdAt" | "label" | "agentName" | "spentCents" | "calls" | "end";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List runs: top runs, or the runs of a tree */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    startRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunInput"];
            };
        };
        responses: {
            /** @description Start a run; its gateway token is returned only once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunStarted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a run */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    endRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End a run, its sub-runs and their calls in progress */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getScim: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the address, the tokens and the people of the directory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScimSettings"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createScimToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScimTokenInput"];
            };
        };
        responses: {
            /** @description Create a SCIM token, which is returned only once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScimTokenCreated"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteScimToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a SCIM token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the state of the user’s second factor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecondFactorInput"];
            };
        };
        responses: {
            /** @description Create the secret of a second factor */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeInput"];
            };
        };
        responses: {
            /** @description Remove the second factor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    enableSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeInput"];
            };
        };
        responses: {
            /** @description Enable the second factor with its first code */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodes"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    renewRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeInput"];
            };
        };
        responses: {
            /** @description Replace the recovery codes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodes"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    confirmSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeInput"];
            };
        };
        responses: {
            /** @description Confirm the session with a code of the second factor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    openBrowserSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BrowserLoginInput"];
            };
        };
        responses: {
            /** @description Open a browser session, which uses a cookie */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            /** @description The credentials are missing, invalid or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    closeBrowserSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Close the browser session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    switchBrowserSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SwitchInput"];
            };
        };
        responses: {
            /** @description Switch the browser session to another organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the user’s sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    endOtherSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke all other sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke a session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the identity provider and the domains of the organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoSettings"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    configureSso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SsoInput"];
            };
        };
        responses: {
            /** @description Set the identity provider of the organization */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoSettings"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeSso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove the identity provider and end its sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    addSsoDomain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DomainInput"];
            };
        };
        responses: {
            /** @description Add a domain of e-mail addresses */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeSsoDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a domain */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    verifySsoDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Look up the TXT record of a domain */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    linkSso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkInput"];
            };
        };
        responses: {
            /** @description Log in once to the account that single sign-on will open */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["BadRequest"];
            /** @description The credentials are missing, invalid or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactorRejection"];
                };
            };
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    startSso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartInput"];
            };
        };
        responses: {
            /** @description Begin a login by single sign-on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testSso: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Test the identity provider and the settings without a login */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoTestReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the health of the built-in providers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetStatusReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSuspendedItems: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                kind?: "member" | "management_token" | "invitation" | "run" | "api_key" | "trust_rule" | "webhook" | "account" | "credential" | "custom_provider" | "sso" | "scim_token";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List items that were suspended because they were created before the founder’s mailbox was proven */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuspendedList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeSuspendedItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke a suspended item: delete it permanently */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    keepSuspendedItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Keep a suspended item: restore it */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuspendedReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exchangeToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["TokenInput"];
                "application/json": components["schemas"]["TokenInput"];
            };
        };
        responses: {
            /** @description Exchange a workload’s token for a gateway key (RFC 8693) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenReply"];
                };
            };
            /** @description Something in the request is wrong; the text names the field. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenErrorReply"];
                };
            };
            413: components["responses"]["TooLarge"];
            /** @description Too many requests, concurrent or in a time window; see Retry-After. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenErrorReply"];
                };
            };
            500: components["responses"]["InternalError"];
            /** @description The database is unavailable; see Retry-After. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenErrorReply"];
                };
            };
        };
    };
    listTrustRules: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                agentId?: string;
                projectId?: string;
                sort?: "createdAt" | "name" | "agentName" | "lastUsedAt";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List trust rules, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrustRuleList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createTrustRule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrustRuleInput"];
            };
        };
        responses: {
            /** @description Create a trust rule; without jwks it reads the issuer’s keys */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrustRuleReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTrustRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a trust rule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrustRuleReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteTrustRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a trust rule; its keys and their calls end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateTrustRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrustRulePatch"];
            };
        };
        responses: {
            /** @description Change a trust rule; all but a new name ends its keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrustRuleReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAgentFigures: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
                projectId?: string;
                /** @description Part of the name, slug or id. Case-insensitive. */
                search?: string;
                status?: "active" | "paused" | "revoked";
                /** @description Adds a time series to each agent, by hour or by day. */
                series?: "hour" | "day";
                sort?: "name" | "createdAt" | "costCents" | "monthCents" | "budgetUsedPercent" | "requests" | "errorRate" | "rejectedRequests" | "lastCallAt";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List agents of all projects with their usage */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentFiguresReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    compareAgents: {
        parameters: {
            query: {
                agentIds: string;
                /** @description Adds a time series to each agent, by hour or by day. */
                series?: "hour" | "day";
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Compare the usage of several agents */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompareReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgentUsage: {
        parameters: {
            query?: {
                start?: string;
                end?: string;
            };
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get usage totals of an agent by provider */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportAgentCalls: {
        parameters: {
            query?: {
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Export all calls of an agent as a file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportAgentCallsReply"];
                    /** @example id,requestId,createdAt,agentId,keyId,providerSlug,accountId,method,path,status,error,model,tokensIn,tokensOut,tokensCacheRead,tokensCacheWrite,tokensReasoning,costCents,usageSource,priceSource,durationMs,ttfbMs,bytesIn,bytesOut,streamed,dataPlaneId,statedCostCents,tool,tags,runId,wouldReject,agentName,projectName,keyName */
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAgentCalls: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                provider?: string;
                statusMin?: number;
                statusMax?: number;
                start?: string;
                end?: string;
                search?: string;
            };
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List calls of an agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogsReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgentProviders: {
        parameters: {
            query?: {
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
            };
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get latency and errors of an agent by provider */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProvidersReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgentSummary: {
        parameters: {
            query?: {
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
            };
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get usage totals and forecast of an agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageSummary"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgentTimeseries: {
        parameters: {
            query?: {
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
                interval?: "hour" | "day";
            };
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get usage of an agent over time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TimeseriesReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getUsageBreakdown: {
        parameters: {
            query: {
                projectId?: string;
                agentId?: string;
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
                /** @description Only calls with this key, also a revoked one. Rejected calls are not counted by key. */
                keyId?: string;
                /** @description One of project, agent, provider, model, tool, key, status, reason, or tag: and the key of a tag, such as tag:customer. */
                by: string;
                /** @description A second dimension: one row for each pair, e.g. by=project and thenBy=model. */
                thenBy?: "project" | "agent" | "provider" | "model" | "tool" | "key";
                /** @description Adds calls and spend of the previous period to each row and to totals. */
                compare?: "previous";
                sort?: "costUsd" | "requests" | "errors" | "tokensIn" | "tokensOut";
                order?: "asc" | "desc";
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get usage by agent, provider, model and other dimensions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Breakdown"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listForwardedAndRejectedCalls: {
        parameters: {
            query?: {
                limit?: number;
                agentId?: string;
                projectId?: string;
                keyId?: string;
                provider?: string;
                /** @description Model name as in the log records. Empty: calls without a model. */
                model?: string;
                /** @description Statuses that the agent received, or classes of statuses, separated by commas. */
                status?: string;
                /** @description Only calls that cost at least this many US cents. */
                minCost?: number;
                /** @description Part of the path, model, error or request id. Case-insensitive. */
                search?: string;
                /** @description Only calls with this tag: key=value. */
                tag?: string;
                runId?: string;
                /** @description true: only calls that a limit in audit mode would have rejected. */
                wouldReject?: boolean;
                startTime?: string;
                endTime?: string;
                /** @description Default: both; for viewers and members forwarded calls only. */
                state?: "forwarded" | "rejected";
                /** @description Only calls that the gateway rejected for this reason. */
                reason?: string;
                /**
                 * @description `nextCursor` of the page before.
                 * @example 2026-11-22T16:51:54.123000Z_01a200de-16d8-74de-8093-48e13086089c
                 */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List forwarded and rejected calls in one list */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MergedCallsReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportCalls: {
        parameters: {
            query?: {
                projectId?: string;
                agentId?: string;
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
                /** @description Only calls with this key, also a revoked one. */
                keyId?: string;
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Export all calls of a scope as a file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportAgentCallsReply"];
                    /** @example id,requestId,createdAt,agentId,keyId,providerSlug,accountId,method,path,status,error,model,tokensIn,tokensOut,tokensCacheRead,tokensCacheWrite,tokensReasoning,costCents,usageSource,priceSource,durationMs,ttfbMs,bytesIn,bytesOut,streamed,dataPlaneId,statedCostCents,tool,tags,runId,wouldReject,agentName,projectName,keyName */
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCalls: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                agentId?: string;
                projectId?: string;
                keyId?: string;
                provider?: string;
                /** @description Model name as in the log records. Empty: calls without a model. */
                model?: string;
                /** @description Statuses that the agent received, or classes of statuses, separated by commas. */
                status?: string;
                /** @description Only calls that cost at least this many US cents. */
                minCost?: number;
                /** @description Part of the path, model, error or request id. Case-insensitive. */
                search?: string;
                /** @description Only calls with this tag: key=value. */
                tag?: string;
                runId?: string;
                /** @description true: only calls that a limit in audit mode would have rejected. */
                wouldReject?: boolean;
                startTime?: string;
                endTime?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List calls of the organization, a project or an agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallsReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a call */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRefusals: {
        parameters: {
            query?: {
                projectId?: string;
                agentId?: string;
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Count rejected requests by reason */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusals"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRejectedCalls: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                agentId?: string;
                projectId?: string;
                keyId?: string;
                reason?: string;
                startTime?: string;
                endTime?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the newest calls that the gateway rejected */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RejectedCallsReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getUsageSummary: {
        parameters: {
            query?: {
                projectId?: string;
                agentId?: string;
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get usage totals of the organization, a project or an agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScopeSummary"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getUsageTimeseries: {
        parameters: {
            query?: {
                projectId?: string;
                agentId?: string;
                period?: "24h" | "7d" | "30d" | "90d";
                start?: string;
                end?: string;
                /** @description Only calls with this key, also a revoked one. Rejected calls are not counted by key. */
                keyId?: string;
                interval?: "hour" | "day";
                /** @description One of project, agent, provider, model, tool, key, status, reason, or tag: and the key of a tag, such as tag:customer. */
                groupBy?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get usage over time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScopeSeries"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Part of the URL. Case-insensitive. */
                search?: string;
                status?: "active" | "paused";
                sort?: "createdAt" | "url";
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List webhook endpoints */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndpointInput"];
            };
        };
        responses: {
            /** @description Create a webhook endpoint; the secret is returned once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointCreated"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a delivery with its payload */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryDetailReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    retryDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Retry a failed delivery */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                status?: "pending" | "success" | "failed";
                event?: "agent.created" | "agent.deleted" | "agent.budget_exceeded" | "run.ended" | "run.budget_exceeded" | "budget.exceeded" | "budget.threshold" | "limit.would_reject" | "provider.circuit_opened" | "provider.circuit_closed" | "alert.opened" | "alert.resolved" | "abuse.detected" | "credential.refused" | "credential.accepted" | "credential.refresh_failed" | "credential.refreshed" | "credential.rotated" | "credential.rotation_failed" | "credential.rolled_back" | "credential.retired" | "credential.used_elsewhere" | "price.drift" | "webhook.paused" | "usage.threshold" | "audit.entry" | "calls.rejected";
                /** @description Only those made from then on, */
                start?: string;
                /** @description and before then. */
                end?: string;
                sort?: "createdAt" | "lastAttemptAt" | "attempts";
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the deliveries of a webhook endpoint */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a webhook endpoint */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a webhook endpoint with its deliveries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointDeleted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndpointPatch"];
            };
        };
        responses: {
            /** @description Update a webhook endpoint, or pause it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayInput"];
            };
        };
        responses: {
            /** @description Replay the deliveries of a time range */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            /** @description Rotate the signing secret; both secrets sign during the overlap */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointCreated"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same call with the same key again gets the first answer again, and nothing happens twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WebhookTestInput"];
            };
        };
        responses: {
            /** @description Send a sample event to a webhook endpoint */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryReply"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    onAgentCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "agent.created",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "projectId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AgentCreatedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAgentDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "agent.deleted",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "projectId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AgentDeletedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAgentBudgetExceeded: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "agent.budget_exceeded",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "budgetCentsMonthly": 5000,
                 *         "spentCents": 5003,
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AgentBudgetExceededEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onRunEnded: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "run.ended",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "runId": "00000000-0000-0000-0000-000000000000",
                 *         "label": "nightly report",
                 *         "budgetCents": 250,
                 *         "orgId": "00000000-0000-0000-0000-000000000000",
                 *         "reason": "ended",
                 *         "spentCents": 61
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RunEndedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onRunBudgetExceeded: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "run.budget_exceeded",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "runId": "00000000-0000-0000-0000-000000000000",
                 *         "label": "nightly report",
                 *         "budgetCents": 250,
                 *         "orgId": "00000000-0000-0000-0000-000000000000",
                 *         "spentCents": 250
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RunBudgetExceededEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onBudgetExceeded: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "budget.exceeded",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "budgetId": "00000000-0000-0000-0000-000000000000",
                 *         "scope": "agent",
                 *         "scopeId": "00000000-0000-0000-0000-000000000000",
                 *         "scopeName": "Sample agent",
                 *         "window": "day",
                 *         "period": "2026-11-28",
                 *         "budgetCents": 500,
                 *         "spentCents": 503,
                 *         "mode": "soft",
                 *         "models": [
                 *           "gpt-5*"
                 *         ],
                 *         "tag": "customer=acme",
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BudgetExceededEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onBudgetThreshold: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "budget.threshold",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "budgetId": "00000000-0000-0000-0000-000000000000",
                 *         "scope": "agent",
                 *         "scopeId": "00000000-0000-0000-0000-000000000000",
                 *         "scopeName": "Sample agent",
                 *         "window": "day",
                 *         "period": "2026-11-28",
                 *         "budgetCents": 500,
                 *         "spentCents": 405,
                 *         "mode": "soft",
                 *         "models": [
                 *           "gpt-5*"
                 *         ],
                 *         "tag": "customer=acme",
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "orgId": "00000000-0000-0000-0000-000000000000",
                 *         "thresholdPercent": 80
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BudgetThresholdEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onLimitWouldReject: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "limit.would_reject",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "limit": "rpm",
                 *         "budgetId": null,
                 *         "window": "2026-11-28",
                 *         "callId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["LimitWouldRejectEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderCircuitOpened: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "provider.circuit_opened",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "errorRate": 62.5,
                 *         "requests": 40,
                 *         "windowSeconds": 30,
                 *         "scope": "organization",
                 *         "state": "OPEN"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ProviderCircuitOpenedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderCircuitClosed: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "provider.circuit_closed",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "errorRate": 0,
                 *         "requests": 5,
                 *         "windowSeconds": 30,
                 *         "scope": "organization",
                 *         "state": "CLOSED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ProviderCircuitClosedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAlertOpened: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "alert.opened",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "alertId": "00000000-0000-0000-0000-000000000000",
                 *         "ruleId": "00000000-0000-0000-0000-000000000000",
                 *         "ruleName": "spend of the day",
                 *         "metric": "spend",
                 *         "value": 9120.5,
                 *         "baseline": 4020.25,
                 *         "windowHours": 12,
                 *         "increasePercent": 50,
                 *         "atLeast": 5000,
                 *         "scope": "agent",
                 *         "scopeId": "00000000-0000-0000-0000-000000000000",
                 *         "scopeName": "Sample agent",
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AlertOpenedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAlertResolved: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "alert.resolved",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "alertId": "00000000-0000-0000-0000-000000000000",
                 *         "ruleId": "00000000-0000-0000-0000-000000000000",
                 *         "ruleName": "spend of the day",
                 *         "metric": "spend",
                 *         "value": 5100,
                 *         "baseline": 4020.25,
                 *         "windowHours": 12,
                 *         "increasePercent": 50,
                 *         "atLeast": 5000,
                 *         "scope": "agent",
                 *         "scopeId": "00000000-0000-0000-0000-000000000000",
                 *         "scopeName": "Sample agent",
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AlertResolvedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAbuseDetected: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "abuse.detected",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "reason": "rejections",
                 *         "count": 300,
                 *         "windowSeconds": 300,
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AbuseDetectedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCredentialRefused: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "credential.refused",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "accountId": "00000000-0000-0000-0000-000000000000",
                 *         "credentialId": null,
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CredentialRefusedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCredentialAccepted: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "credential.accepted",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "accountId": "00000000-0000-0000-0000-000000000000",
                 *         "credentialId": null,
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CredentialAcceptedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCredentialRefreshFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "credential.refresh_failed",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "accountId": "00000000-0000-0000-0000-000000000000",
                 *         "credentialId": null,
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000",
                 *         "reason": "invalid_client",
                 *         "detail": "invalid_client"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CredentialRefreshFailedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCredentialRefreshed: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "credential.refreshed",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "accountId": "00000000-0000-0000-0000-000000000000",
                 *         "credentialId": null,
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CredentialRefreshedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCredentialRotated: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "credential.rotated",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "accountId": "00000000-0000-0000-0000-000000000000",
                 *         "credentialId": null,
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000",
                 *         "compromised": false
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CredentialRotatedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCredentialRotationFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "credential.rotation_failed",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "accountId": "00000000-0000-0000-0000-000000000000",
                 *         "credentialId": null,
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CredentialRotationFailedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCredentialRolledBack: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "credential.rolled_back",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "accountId": "00000000-0000-0000-0000-000000000000",
                 *         "credentialId": null,
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000",
                 *         "compromised": false
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CredentialRolledBackEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCredentialRetired: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "credential.retired",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "accountId": "00000000-0000-0000-0000-000000000000",
                 *         "credentialId": null,
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000",
                 *         "compromised": false
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CredentialRetiredEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCredentialUsedElsewhere: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "credential.used_elsewhere",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "keyLabel": "sk-abc***xyz",
                 *         "day": "2000-01-01",
                 *         "unattributedCents": 1250,
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CredentialUsedElsewhereEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPriceDrift: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "price.drift",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "providerSlug": "openai",
                 *         "model": "gpt-5-mini",
                 *         "day": "2000-01-01",
                 *         "pricesFile": "{\"openai\":{\"models\":{\"gpt-5-mini\":[{\"from\":\"2000-01-01\",\"inputPerMTok\":0.3}]}}}",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PriceDriftEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookPaused: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "webhook.paused",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "endpointId": "00000000-0000-0000-0000-000000000000",
                 *         "failedAttempts": 50,
                 *         "failingSince": "2000-01-01T00:00:00.000Z",
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["WebhookPausedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onUsageThreshold: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "usage.threshold",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "agentId": "00000000-0000-0000-0000-000000000000",
                 *         "agentName": "Sample agent",
                 *         "thresholdPercent": 80,
                 *         "budgetCentsMonthly": 5000,
                 *         "spentCents": 4012,
                 *         "orgId": "00000000-0000-0000-0000-000000000000"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UsageThresholdEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAuditEntry: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "audit.entry",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "id": "00000000-0000-0000-0000-000000000000",
                 *         "orgId": "00000000-0000-0000-0000-000000000000",
                 *         "at": "2026-11-22T08:00:00.000Z",
                 *         "action": "agent.update",
                 *         "actorUserId": "00000000-0000-0000-0000-000000000000",
                 *         "actorEmail": "you@example.com",
                 *         "actorTokenId": null,
                 *         "actorTokenName": null,
                 *         "targetType": "agent",
                 *         "targetId": "00000000-0000-0000-0000-000000000000",
                 *         "ip": "203.0.113.7",
                 *         "changes": {
                 *           "rpmLimit": [
                 *             60,
                 *             120
                 *           ]
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AuditEntryEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCallsRejected: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation. */
                "X-Webhook-Signature": string;
                /** @description `v1=` and the signature for each valid secret: two during a rotation. */
                "X-Webhook-Signatures": string;
                /** @description The name of the event. */
                "X-Webhook-Event": string;
                /** @description The id of the delivery, the same on every retry. */
                "X-Webhook-Delivery": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "calls.rejected",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "orgId": "00000000-0000-0000-0000-000000000000",
                 *         "firstMinute": "2026-11-22T16:51:00.000Z",
                 *         "lastMinute": "2026-11-22T16:52:00.000Z",
                 *         "count": 1200,
                 *         "omitted": 0,
                 *         "rejections": [
                 *           {
                 *             "agentId": "00000000-0000-0000-0000-000000000000",
                 *             "agentName": "Sample agent",
                 *             "providerSlug": "openai",
                 *             "reason": "rpm",
                 *             "count": 1200,
                 *             "firstMinute": "2026-11-22T16:51:00.000Z",
                 *             "lastMinute": "2026-11-22T16:52:00.000Z",
                 *             "lastCall": {
                 *               "id": "00000000-0000-0000-0000-000000000000",
                 *               "rejectedAt": "2026-11-22T16:52:54.000Z",
                 *               "keyId": "00000000-0000-0000-0000-000000000000",
                 *               "status": 429,
                 *               "method": "POST",
                 *               "path": "/v1/chat/completions",
                 *               "model": "gpt-5-mini",
                 *               "tool": null,
                 *               "clientNetwork": "203.0.113.7",
                 *               "budgetId": null
                 *             }
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CallsRejectedEvent"];
            };
        };
        responses: {
            /** @description Received. Anything else is tried again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
