// Written by `npm run docs` from the operations of core/control: do not edit.


export interface paths {
  "/sign-in": {
    /**
     * List the ways to sign in
     * @description Anyone.
     */
    get: {
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["SignInMethods"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/setup": {
    /**
     * Use the setup link: create the first admin, and sign in
     * @description Anyone.
     */
    post: {
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            /** @description The link's fragment: the text after its #. */
            readonly token: string;
            /** Format: email */
            readonly email: string;
            readonly name: string;
            /** @description At least 12 characters. */
            readonly password: string;
          };
        };
      };
      responses: {
        /** @description Success. */
        201: {
          content: {
            readonly "application/json": components["schemas"]["Session"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/session": {
    /**
     * Get the session
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["Session"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
    /**
     * Sign in
     * @description Anyone.
     */
    post: {
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            /** Format: email */
            readonly email: string;
            /** @description The password. */
            readonly password: string;
          };
        };
      };
      responses: {
        /** @description Success. */
        201: {
          content: {
            readonly "application/json": components["schemas"]["Session"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
    /**
     * Sign out
     * @description All users; a member sees what belongs to their account.
     */
    delete: {
      responses: {
        /** @description Success. */
        204: {
          content: never;
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/sessions": {
    /**
     * Sign out everywhere
     * @description All users; a member sees what belongs to their account.
     */
    delete: {
      responses: {
        /** @description Success. */
        204: {
          content: never;
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/password": {
    /**
     * Change your password; your other sessions end
     * @description All users; a member sees what belongs to their account.
     */
    post: {
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            /** @description The current password. */
            readonly current: string;
            /** @description At least 12 characters. */
            readonly new: string;
          };
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["Session"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/oidc/start": {
    /**
     * Redirect the browser to the OpenID provider
     * @description Anyone.
     */
    get: {
      responses: {
        /** @description Success. */
        302: {
          content: never;
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/oidc/callback": {
    /**
     * Complete a sign-in: the redirect URI for the OpenID provider
     * @description Anyone.
     */
    get: {
      responses: {
        /** @description Success. */
        302: {
          content: never;
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/invitations": {
    /**
     * List the open invitations, newest first
     * @description Admins.
     */
    get: {
      parameters: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": {
              readonly data: readonly components["schemas"]["Invitation"][];
              /** @description The `cursor` of the next page; null on the last page. */
              readonly next_cursor: string | null;
            };
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
    /**
     * Invite a person; only this reply has the link
     * @description Admins.
     */
    post: {
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            /** Format: email */
            readonly email: string;
            /**
             * @description An admin sees and changes everything; a member what belongs to their account.
             * @enum {string}
             */
            readonly role: "admin" | "member";
            readonly account_id: string;
          };
        };
      };
      responses: {
        /** @description Success. */
        201: {
          content: {
            readonly "application/json": components["schemas"]["CreatedInvitation"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/invitations/{id}": {
    /**
     * Withdraw an invitation
     * @description Admins.
     */
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        /** @description Success. */
        204: {
          content: never;
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/invitations/look": {
    /**
     * Get the invitation of a link
     * @description Anyone.
     */
    post: {
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            /** @description The link's fragment: the text after its #. */
            readonly token: string;
          };
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["InvitedPerson"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/invitations/accept": {
    /**
     * Accept an invitation: become a user, and sign in
     * @description Anyone.
     */
    post: {
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            /** @description The link's fragment: the text after its #. */
            readonly token: string;
            readonly name: string;
            /** @description At least 12 characters. */
            readonly password: string;
          };
        };
      };
      responses: {
        /** @description Success. */
        201: {
          content: {
            readonly "application/json": components["schemas"]["Session"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/accounts": {
    /**
     * List accounts, newest first; a member sees their own
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": {
              readonly data: readonly components["schemas"]["Account"][];
              /** @description The `cursor` of the next page; null on the last page. */
              readonly next_cursor: string | null;
            };
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
    /**
     * Create an account
     * @description Admins.
     */
    post: {
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            readonly name: string;
            /** @description Globs of the model ids that its keys may call. */
            readonly models: readonly string[];
            /** @description The rate class of its keys; null: the default one. */
            readonly rate_class?: string | null;
          };
        };
      };
      responses: {
        /** @description Success. */
        201: {
          content: {
            readonly "application/json": components["schemas"]["Account"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/accounts/{id}": {
    /**
     * Get an account
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["Account"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
    /**
     * Change an account, which takes effect for its keys at once
     * @description Admins.
     */
    patch: {
      parameters: {
        path: {
          id: string;
        };
      };
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            readonly name?: string;
            /** @description Globs of the model ids that its keys may call. */
            readonly models?: readonly string[];
            /** @description The rate class of its keys; null: the default one. */
            readonly rate_class?: string | null;
          };
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["Account"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/users": {
    /**
     * List users, newest first
     * @description Admins.
     */
    get: {
      parameters: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": {
              readonly data: readonly components["schemas"]["User"][];
              /** @description The `cursor` of the next page; null on the last page. */
              readonly next_cursor: string | null;
            };
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/users/{id}": {
    /**
     * Change a user; another role, or disabling, signs them out
     * @description Admins.
     */
    patch: {
      parameters: {
        path: {
          id: string;
        };
      };
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            readonly name?: string;
            /**
             * @description An admin sees and changes everything; a member what belongs to their account.
             * @enum {string}
             */
            readonly role?: "admin" | "member";
            readonly disabled?: boolean;
          };
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["User"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/users/{id}/end-sessions": {
    /**
     * Sign a user out everywhere
     * @description Admins.
     */
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        /** @description Success. */
        204: {
          content: never;
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/keys": {
    /**
     * List keys, newest first, those of routes.yaml before all others
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        query?: {
          limit?: number;
          cursor?: string;
          q?: string;
          status?: "active" | "expired" | "revoked";
          kind?: "live" | "test" | "admin";
          account_id?: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": {
              readonly data: readonly components["schemas"]["ApiKey"][];
              /** @description The `cursor` of the next page; null on the last page. */
              readonly next_cursor: string | null;
            };
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
    /**
     * Create a key; only this reply has its secret
     * @description All users; a member sees what belongs to their account.
     */
    post: {
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            /** @description What it is for. */
            readonly name: string;
            /** @description Globs that narrow the account's; absent: all of those. */
            readonly models?: readonly string[];
            /** @description Null: the account's, else the default one. Only an admin may set it. */
            readonly rate_class?: string | null;
            /** @description When it expires; null: never. */
            readonly expires_at?: string | null;
            /** @description Labels for usage and metrics: at most ten, their names in lower case. */
            readonly tags?: Record<string, never>;
            /**
             * @description An admin key can call this API, and no model.
             * @enum {string}
             */
            readonly kind: "live" | "test" | "admin";
            /** @description The owning account; absent: your own. */
            readonly account_id?: string;
          };
        };
      };
      responses: {
        /** @description Success. */
        201: {
          content: {
            readonly "application/json": components["schemas"]["CreatedApiKey"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/keys/{id}": {
    /**
     * Get a key
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["ApiKey"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
    /**
     * Change a key
     * @description All users; a member sees what belongs to their account.
     */
    patch: {
      parameters: {
        path: {
          id: string;
        };
      };
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            /** @description What it is for. */
            readonly name?: string;
            /** @description Globs that narrow the account's; absent: all of those. */
            readonly models?: readonly string[];
            /** @description Null: the account's, else the default one. Only an admin may set it. */
            readonly rate_class?: string | null;
            /** @description When it expires; null: never. */
            readonly expires_at?: string | null;
            /** @description Labels for usage and metrics: at most ten, their names in lower case. */
            readonly tags?: Record<string, never>;
          };
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["ApiKey"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/keys/{id}/rotate": {
    /**
     * Rotate a key: create its successor; only this reply has the secret
     * @description All users; a member sees what belongs to their account.
     */
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      readonly requestBody: {
        readonly content: {
          readonly "application/json": {
            /** @description How long the old key stays valid; 0 revokes it at once. */
            readonly overlap_seconds: number;
          };
        };
      };
      responses: {
        /** @description Success. */
        201: {
          content: {
            readonly "application/json": components["schemas"]["CreatedApiKey"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/keys/{id}/revoke": {
    /**
     * Revoke a key, at once and for ever
     * @description All users; a member sees what belongs to their account.
     */
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["ApiKey"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/models": {
    /**
     * List the models that your account may call, as far as they are named or discovered
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": {
              readonly data: readonly components["schemas"]["Model"][];
            };
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/usage": {
    /**
     * Get usage over time, by model, key, account or tag
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        query: {
          from?: string;
          to?: string;
          step?: "hour" | "day";
          group: string;
          account_id?: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["Usage"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/usage.csv": {
    /**
     * Export the same usage as CSV, with every group
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        query: {
          from?: string;
          to?: string;
          step?: "hour" | "day";
          group: string;
          account_id?: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "text/csv; charset=utf-8": unknown;
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/requests": {
    /**
     * List calls, newest first
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        query?: {
          from?: string;
          to?: string;
          q?: string;
          model?: string;
          key_id?: string;
          account_id?: string;
          status?: number;
          fault?: "caller" | "policy" | "upstream" | "gateway";
          limit?: number;
          cursor?: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": {
              readonly data: readonly components["schemas"]["Request"][];
              /** @description The `cursor` of the next page; null on the last page. */
              readonly next_cursor: string | null;
            };
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/requests/live": {
    /**
     * Stream calls as they end, as server-sent events
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "text/event-stream": unknown;
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/requests.csv": {
    /**
     * Export all calls of the filter as CSV
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        query?: {
          from?: string;
          to?: string;
          q?: string;
          model?: string;
          key_id?: string;
          account_id?: string;
          status?: number;
          fault?: "caller" | "policy" | "upstream" | "gateway";
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "text/csv; charset=utf-8": unknown;
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/requests.jsonl": {
    /**
     * Export all calls of the filter as JSON Lines
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        query?: {
          from?: string;
          to?: string;
          q?: string;
          model?: string;
          key_id?: string;
          account_id?: string;
          status?: number;
          fault?: "caller" | "policy" | "upstream" | "gateway";
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/jsonl; charset=utf-8": unknown;
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/requests/{id}": {
    /**
     * Get a call
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["Request"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/audit": {
    /**
     * List the audit trail, newest first
     * @description Admins.
     */
    get: {
      parameters: {
        query?: {
          limit?: number;
          cursor?: string;
          action?: string;
          actor?: string;
          from?: string;
          to?: string;
        };
      };
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": {
              readonly data: readonly components["schemas"]["AuditEntry"][];
              /** @description The `cursor` of the next page; null on the last page. */
              readonly next_cursor: string | null;
            };
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/config": {
    /**
     * Get the routes.yaml in use, and the outcome of the last reload
     * @description Admins.
     */
    get: {
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["Config"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/routes": {
    /**
     * Get the routing table, with the state of its targets
     * @description Admins.
     */
    get: {
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": components["schemas"]["RoutingTable"];
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
  "/openapi.json": {
    /**
     * Get this API as an OpenAPI 3.1 document
     * @description All users; a member sees what belongs to their account.
     */
    get: {
      responses: {
        /** @description Success. */
        200: {
          content: {
            readonly "application/json": Record<string, never>;
          };
        };
        /** @description An error; docs/errors.md lists them all. */
        default: {
          content: {
            readonly "application/json": components["schemas"]["Error"];
          };
        };
      };
    };
  };
}

export type webhooks = Record<string, never>;

export interface components {
  schemas: {
    readonly SignInMethods: {
      /** @description By e-mail address and password. */
      readonly password: boolean;
      /** @description The OpenID provider, and the path where a browser starts to sign in by it. */
      readonly oidc: {
        readonly name: string;
        readonly path: string;
      } | null;
      /** @description True until the first admin has used the setup link. */
      readonly setup_needed: boolean;
    };
    readonly Error: {
      readonly error: {
        /** @description For people: what is wrong, and what to do. */
        readonly message: string;
        readonly type: string;
        /** @description The invalid field. */
        readonly param: string | null;
        /** @description For programs. */
        readonly code: string | null;
      };
    };
    readonly Named: {
      readonly id: string;
      readonly name: string;
    };
    readonly Session: {
      readonly user: {
        readonly id: string;
        /** @description Null for an admin key. */
        readonly email: string | null;
        readonly name: string;
        /**
         * @description An admin sees and changes everything; a member what belongs to their account.
         * @enum {string}
         */
        readonly role: "admin" | "member";
      };
      readonly account: components["schemas"]["Named"];
      readonly gateway: {
        /** @description The base URL for clients; it ends in /v1. */
        readonly base_url: string;
        readonly version: string;
      };
    };
    readonly Invitation: {
      readonly id: string;
      readonly email: string;
      /**
       * @description An admin sees and changes everything; a member what belongs to their account.
       * @enum {string}
       */
      readonly role: "admin" | "member";
      readonly account: components["schemas"]["Named"];
      /**
       * Format: date-time
       * @description When it was created.
       */
      readonly created_at: string;
      readonly created_by: components["schemas"]["Named"];
      /**
       * Format: date-time
       * @description When its link expires.
       */
      readonly expires_at: string;
    };
    readonly CreatedInvitation: {
      readonly id: string;
      readonly email: string;
      /**
       * @description An admin sees and changes everything; a member what belongs to their account.
       * @enum {string}
       */
      readonly role: "admin" | "member";
      readonly account: components["schemas"]["Named"];
      /**
       * Format: date-time
       * @description When it was created.
       */
      readonly created_at: string;
      readonly created_by: components["schemas"]["Named"];
      /**
       * Format: date-time
       * @description When its link expires.
       */
      readonly expires_at: string;
      /** @description The link for the invited person: only in this reply. It works once. */
      readonly link: string;
    };
    readonly InvitedPerson: {
      readonly email: string;
      /**
       * @description An admin sees and changes everything; a member what belongs to their account.
       * @enum {string}
       */
      readonly role: "admin" | "member";
      readonly account: components["schemas"]["Named"];
    };
    readonly Account: {
      readonly id: string;
      readonly name: string;
      /** @description Globs of the model ids that its keys may call. */
      readonly models: readonly string[];
      /** @description The rate class of its keys; null: the default one. */
      readonly rate_class: string | null;
      /**
       * Format: date-time
       * @description When it was created.
       */
      readonly created_at: string;
      /** @description The number of its keys that are not revoked. */
      readonly keys: number;
      /** @description The number of users who sign in to it. */
      readonly users: number;
    };
    readonly User: {
      readonly id: string;
      readonly email: string;
      readonly name: string;
      /**
       * @description An admin sees and changes everything; a member what belongs to their account.
       * @enum {string}
       */
      readonly role: "admin" | "member";
      readonly account: components["schemas"]["Named"];
      /**
       * Format: date-time
       * @description When they joined.
       */
      readonly created_at: string;
      /** @description Null: never. */
      readonly last_sign_in_at: string | null;
      /** @description A disabled user cannot sign in. */
      readonly disabled: boolean;
    };
    readonly ApiKey: {
      readonly id: string;
      readonly name: string;
      /**
       * @description An admin key can call this API, and no model.
       * @enum {string}
       */
      readonly kind: "live" | "test" | "admin";
      /** @description The secret's first and last characters. */
      readonly masked: string;
      readonly account: components["schemas"]["Named"];
      /** @description Globs of model ids that narrow the account's. */
      readonly models: readonly string[];
      /** @description Null: the account's, else the default one. */
      readonly rate_class: string | null;
      /** @description Labels for usage and metrics: at most ten, their names in lower case. */
      readonly tags: Record<string, never>;
      /** @description Null for a key of routes.yaml. */
      readonly created_at: string | null;
      /** @description Null for a key of routes.yaml. */
      readonly created_by: components["schemas"]["Named"] | null;
      /** @description Up to a minute late. Null: never, or a key of routes.yaml. */
      readonly last_used_at: string | null;
      /** @description Null: never. */
      readonly expires_at: string | null;
      /** @description Null: not revoked. */
      readonly revoked_at: string | null;
      /** @enum {string} */
      readonly status: "active" | "expired" | "revoked";
      /** @description The id of the key that it was rotated to. */
      readonly replaced_by?: string;
      /** @description The id of the key that it was rotated from. */
      readonly replaces?: string;
      /** @description `database`, or the line of routes.yaml that declares it: there it can be changed. */
      readonly source: string;
    };
    readonly CreatedApiKey: {
      readonly id: string;
      readonly name: string;
      /**
       * @description An admin key can call this API, and no model.
       * @enum {string}
       */
      readonly kind: "live" | "test" | "admin";
      /** @description The secret's first and last characters. */
      readonly masked: string;
      readonly account: components["schemas"]["Named"];
      /** @description Globs of model ids that narrow the account's. */
      readonly models: readonly string[];
      /** @description Null: the account's, else the default one. */
      readonly rate_class: string | null;
      /** @description Labels for usage and metrics: at most ten, their names in lower case. */
      readonly tags: Record<string, never>;
      /** @description Null for a key of routes.yaml. */
      readonly created_at: string | null;
      /** @description Null for a key of routes.yaml. */
      readonly created_by: components["schemas"]["Named"] | null;
      /** @description Up to a minute late. Null: never, or a key of routes.yaml. */
      readonly last_used_at: string | null;
      /** @description Null: never. */
      readonly expires_at: string | null;
      /** @description Null: not revoked. */
      readonly revoked_at: string | null;
      /** @enum {string} */
      readonly status: "active" | "expired" | "revoked";
      /** @description The id of the key that it was rotated to. */
      readonly replaced_by?: string;
      /** @description The id of the key that it was rotated from. */
      readonly replaces?: string;
      /** @description `database`, or the line of routes.yaml that declares it: there it can be changed. */
      readonly source: string;
      /** @description Only in this reply. */
      readonly secret: string;
    };
    readonly Model: {
      readonly id: string;
      readonly namespace: string;
      readonly owned_by: string;
      /** @description In tokens. */
      readonly context_length?: number;
      /** @description A route of routes.yaml, with targets. */
      readonly curated: boolean;
      readonly available: boolean;
      /** @description Why it is not available. */
      readonly why?: string;
    };
    readonly UsageTotals: {
      readonly requests: number;
      readonly errors: number;
      readonly input_tokens: number;
      readonly output_tokens: number;
      /** @description Part of `input_tokens`. */
      readonly cached_tokens: number;
      /** @description Part of `output_tokens`. */
      readonly reasoning_tokens: number;
    };
    readonly Usage: {
      /** @enum {string} */
      readonly step: "hour" | "day";
      /** @description By requests, most first. */
      readonly groups: readonly {
          /** @description An id, a model or a tag; '' for none, `*` for all after the first twenty. */
          readonly name: string;
          readonly label: string;
        }[];
      /** @description An entry for each hour or day, its values in the order of the groups. */
      readonly series: readonly {
          /**
           * Format: date-time
           * @description When it begins.
           */
          readonly t: string;
          readonly values: readonly components["schemas"]["UsageTotals"][];
        }[];
      readonly totals: components["schemas"]["UsageTotals"];
    };
    readonly Attempt: {
      readonly namespace: string;
      /** @description Its name at the upstream. */
      readonly model: string;
      readonly provider: string;
      /** @description `ok`, or the name of an error. */
      readonly result: string;
      readonly ms: number;
    };
    readonly LinkTime: {
      /** @description The plugin's name. */
      readonly name: string;
      /** @description Its own time, without that of the links after it. */
      readonly ms: number;
    };
    /** @description A call, without its content. Durations are in milliseconds. */
    readonly Request: {
      /** @description The reply's `x-request-id`. */
      readonly id: string;
      /**
       * Format: date-time
       * @description When it was received.
       */
      readonly at: string;
      readonly key: components["schemas"]["Named"] | null;
      readonly account: components["schemas"]["Named"] | null;
      readonly endpoint: string;
      /** @description The requested model, aliases resolved; null if the call ended before it was known. */
      readonly model: string | null;
      /** @description The target that served the reply. */
      readonly served: {
        readonly namespace: string;
        /** @description Its name at the upstream. */
        readonly model: string;
        readonly provider: string;
      } | null;
      readonly stream: boolean;
      /** @description The HTTP status sent; 499 if the client left first. */
      readonly status: number;
      readonly outcome: string;
      /** @description Who caused the failure; null for a success. */
      readonly fault: ("caller" | "policy" | "upstream" | "gateway") | null;
      readonly error: ({
        /** @description The `error.code` that the client received. */
        readonly code: string | null;
        /** @description The error's name. */
        readonly row: string;
      }) | null;
      readonly attempts: readonly components["schemas"]["Attempt"][];
      /** @description The links that ran, in the chain's order. */
      readonly links: readonly components["schemas"]["LinkTime"][];
      readonly ms: {
        readonly total: number;
        /** @description To the first byte of content. */
        readonly first_byte: number | null;
        /** @description In the gateway itself, until the reply's head. */
        readonly overhead: number;
      };
      readonly tokens: {
        readonly input: number;
        readonly output: number;
        /** @description Part of `input`. */
        readonly cached: number;
        /** @description Part of `output`. */
        readonly reasoning: number;
        /** @description True if the upstream did not report them. */
        readonly estimated: boolean;
      } | null;
      readonly tags: Record<string, never>;
    };
    readonly AuditEntry: {
      readonly id: string;
      /**
       * Format: date-time
       * @description When it was done.
       */
      readonly at: string;
      /** @description Who did it; null: a client that was not signed in. */
      readonly actor: components["schemas"]["Named"] | null;
      readonly action: string;
      readonly object: {
        readonly type: string;
        readonly id: string | null;
        readonly name: string;
      };
      /** @description The client's address; null if no network was involved. */
      readonly ip: string | null;
      /** @description For each changed field its value before and after. */
      readonly changes: Record<string, never>;
    };
    /** @description An error in routes.yaml; lines and columns count from 1. */
    readonly Diagnostic: {
      readonly line: number;
      readonly column: number;
      readonly message: string;
    };
    readonly Config: {
      /** @description The file's name. */
      readonly file: string;
      /** @description It contains no secret: only references to secrets, and the hashes of keys. */
      readonly text: string;
      /** @description Of the text. */
      readonly sha256: string;
      /**
       * Format: date-time
       * @description When it was loaded.
       */
      readonly loaded_at: string;
      /** @description The rate classes that a key or an account can have; empty if no plugin declares any. */
      readonly rate_classes: readonly string[];
      /** @description Null: not reloaded since the start. */
      readonly last_reload: {
        /**
         * Format: date-time
         * @description When it happened.
         */
        readonly at: string;
        /** @description False: the previous configuration stays in use. */
        readonly ok: boolean;
        /** @description The errors. */
        readonly diagnostics: readonly components["schemas"]["Diagnostic"][];
        /** @description A line for each change. */
        readonly difference: readonly string[];
      } | null;
    };
    readonly Target: {
      /** @description A model id, of an upstream or of another route. */
      readonly model: string;
      readonly weight: number;
      /** @description Its share of the calls, from 0 to 1; absent if weights do not decide. */
      readonly share?: number;
      /**
       * @description The state of its circuit breaker; absent if the model is not an upstream's.
       * @enum {string}
       */
      readonly health?: "closed" | "open" | "half_open";
    };
    readonly Route: {
      /** @description The model id without its namespace. */
      readonly name: string;
      readonly line: number;
      readonly targets: readonly components["schemas"]["Target"][];
      /** @description In the order of the attempts. */
      readonly fallbacks: readonly components["schemas"]["Target"][];
    };
    readonly Namespace: {
      readonly name: string;
      /** @description Null for a namespace of routes. */
      readonly provider: string | null;
      /** @description What is missing: the namespace serves no calls. */
      readonly dormant?: string;
      /** @description Names and globs; absent: any model. */
      readonly models?: readonly string[];
      /** @description Of routes.yaml. */
      readonly line: number;
      readonly routes: readonly components["schemas"]["Route"][];
    };
    readonly RoutingTable: {
      readonly aliases: readonly {
          readonly name: string;
          readonly to: string;
        }[];
      readonly namespaces: readonly components["schemas"]["Namespace"][];
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}

export type $defs = Record<string, never>;

export type external = Record<string, never>;

export type operations = Record<string, never>;
