# a service
